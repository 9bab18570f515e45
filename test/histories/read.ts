/** Tables as the official client reads them: all rows, with filters, and counted. */
import { readColumns } from "../../src/engine/engine.ts";
import type { Column } from "../../src/schema/data-type.ts";
import { lancedb } from "../support/tables.ts";
import type { Found } from "./oracle.ts";
import { isScalar, valueOf, type Raw, type Value } from "./values.ts";

type Table = Awaited<ReturnType<Awaited<ReturnType<typeof lancedb.connect>>["openTable"]>>;

/** Throws where a table can't be read, or a filter finds other rows than are there. */
export async function readAll(folder: string): Promise<ReadonlyMap<string, Found>> {
  const db = await lancedb.connect(folder);
  try {
    const names = (await db.tableNames()).filter((name) => !name.startsWith("_migrations"));
    const tables = new Map<string, Found>();
    for (const name of names)
      try {
        tables.set(name, await read(await db.openTable(name)));
      } catch (error) {
        throw new Error(`table ${name} can't be read: ${String(error).split("\n")[0]}`, { cause: error });
      }
    return tables;
  } finally {
    db.close();
  }
}

async function read(table: Table): Promise<Found> {
  const columns = await readColumns(table);
  const found = await table.query().toArrow();
  // A result without rows may have no batches.
  const vectors = columns.map(({ name }) => found.getChild(name));
  const rows = Array.from({ length: found.numRows }, (_, at) =>
    Object.fromEntries(
      columns.map(({ name, type }, index) => [name, valueOf(vectors[index]?.get(at) as Raw, type)] as const),
    ),
  );
  same("rows", rows.length, await table.countRows());
  for (const column of columns.filter(({ type }) => isScalar(type))) await checkFilter(table, column, rows);
  return { columns, rows };
}

async function checkFilter(
  table: Table,
  { name }: Column,
  rows: readonly Readonly<Record<string, Value>>[],
): Promise<void> {
  const nulls = rows.filter((row) => row[name] === null).length;
  same(`nulls in ${name}`, nulls, await table.countRows(`\`${name}\` is null`));
}

function same(what: string, read: number, counted: number): void {
  if (read !== counted) throw new Error(`${what}: ${read} are read and ${counted} counted`);
}
