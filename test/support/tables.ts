/** Tables as `@lancedb/lancedb` itself sees them, without our target in between. */
import { createRequire } from "node:module";
import { formatPath } from "../../src/schema/path.ts";
import { columnPaths, findColumn } from "../../src/schema/table.ts";
import { formatType } from "../../src/schema/data-type.ts";
import { readColumns } from "../../src/engine/engine.ts";
import { readIndexes } from "../../src/engine/read-indexes.ts";

type Lancedb = typeof import("@lancedb/lancedb");
const require = createRequire(import.meta.url);
export const lancedb = require("@lancedb/lancedb") as Lancedb;
/** That of the engine, which takes no other. */
const arrow = require("apache-arrow") as typeof import("apache-arrow");

/** The columns of a table in words: "id: int64 not null". */
export async function columnsOf(folder: string, table: string): Promise<readonly string[]> {
  const db = await lancedb.connect(folder);
  const columns = await readColumns(await db.openTable(table));
  return columns.map(({ name, type, nullable }) => `${name}: ${formatType(type)}${nullable ? "" : " not null"}`);
}

/** What besides its columns belongs to a table: its indexes by name, and the metadata of its columns. */
export async function belongingsOf(folder: string, table: string): Promise<unknown> {
  const handle = await (await lancedb.connect(folder)).openTable(table);
  const columns = await readColumns(handle);
  const metadata = columnPaths(columns).flatMap((path) => {
    const known = Object.entries(findColumn(columns, path)?.metadata ?? {});
    return known.length === 0 ? [] : [[formatPath(path), Object.fromEntries(known.toSorted())]];
  });
  const indexes = Object.entries(await readIndexes(handle, folder)).toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  );
  return { indexes: Object.fromEntries(indexes), metadata: Object.fromEntries(metadata) as object };
}

/** All rows of a table as plain values; big integers as numbers. */
export async function rowsOf(folder: string, table: string): Promise<readonly Record<string, unknown>[]> {
  const db = await lancedb.connect(folder);
  const rows = await (await db.openTable(table)).query().toArray();
  return rows.map((row) =>
    JSON.parse(JSON.stringify(row, (_, value) => (typeof value === "bigint" ? Number(value) : value))),
  );
}

/** Adds rows as an application would. */
export async function addRows(folder: string, table: string, rows: Record<string, unknown>[]): Promise<void> {
  const db = await lancedb.connect(folder);
  await (await db.openTable(table)).add(rows);
}

/** Adds many rows with columns of 32-bit integers: as objects a million rows take seconds. */
export async function addNumbers(
  folder: string,
  name: string,
  rows: number,
  columns: Readonly<Record<string, (row: number) => number>>,
): Promise<void> {
  const table = await (await lancedb.connect(folder)).openTable(name);
  const vectors = Object.entries(columns).map(([column, value]) => [
    column,
    arrow.makeVector(Int32Array.from({ length: rows }, (_, row) => value(row))),
  ]);
  await table.add(new arrow.Table(await table.schema(), Object.fromEntries(vectors)));
}

/** The version of each table. */
export async function versionsOf(folder: string): Promise<Readonly<Record<string, number>>> {
  const db = await lancedb.connect(folder);
  const names = await db.tableNames();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await (await db.openTable(name)).version()])),
  );
}
