/** The tables that clients are tried on, made by the engine of this tool, and what each of them holds. */
import { join } from "node:path";
import { Field, type DataType } from "apache-arrow";
import * as arrow from "apache-arrow";
import { creationOptions } from "../../src/engine/engine.ts";
import type { NewTables } from "../../src/schema/table-format.ts";
import { lancedb } from "../support/tables.ts";

export type Row = Readonly<Record<string, unknown>>;
type Table = Awaited<ReturnType<Awaited<ReturnType<typeof lancedb.connect>>["openTable"]>>;

export interface Made {
  readonly folder: string;
  readonly version: number;
  readonly rows: readonly Row[];
  /** A new row of this table. */
  readonly row: (id: number) => Row;
}

/** How tables are made, as the setting `newTables` says. */
export const kinds: Readonly<Record<string, NewTables>> = {
  "2.2": {},
  "2.2, stable row ids": { stableRowIds: true },
  "2.1": { dataStorageVersion: "2.1" },
  "2.1, stable row ids": { dataStorageVersion: "2.1", stableRowIds: true },
  "2.0": { dataStorageVersion: "2.0" },
};

const field = (name: string, type: DataType, nullable = true) => new Field(name, type, nullable);
const schema = new arrow.Schema([
  field("id", new arrow.Int64(), false),
  field("name", new arrow.Utf8()),
  field("score", new arrow.Float64()),
  field("flag", new arrow.Bool()),
  field("tags", new arrow.List(field("item", new arrow.Utf8()))),
  field("vector", new arrow.FixedSizeList(4, field("item", new arrow.Float32()))),
  field("place", new arrow.Struct([field("city", new arrow.Utf8()), field("zip", new arrow.Int32())])),
  field("raw", new arrow.Binary()),
  field("at", new arrow.TimestampMillisecond()),
  field("extra", new arrow.Int32()),
]);

/** Without null structs: file format 2.0 holds none, and old clients send none as they were given. */
function rowOf(id: number): Row {
  return {
    id,
    name: id % 7 === 3 ? null : `name ${id % 10}`,
    score: id % 5 === 0 ? null : id / 4,
    flag: id % 3 === 0 ? null : id % 2 === 0,
    tags: id % 4 === 0 ? null : id % 4 === 1 ? [] : [`a${id}`, "b"],
    vector: [id, id + 0.5, -id, 1],
    place: { city: `c${id}`, zip: id % 2 === 1 ? null : id },
    raw: id % 8 === 0 ? null : Buffer.from([id % 256, 0, 255]).toString("hex"),
    at: id % 9 === 0 ? null : 1_700_000_000_000 + id,
    extra: id % 11 === 0 ? null : id * 3,
  };
}

/** What the engine does, and the same on a row; undefined for a row that is gone. */
interface Change {
  readonly act: (table: Table) => Promise<unknown>;
  readonly row: (row: Row) => Row | undefined;
}

const unchanged = (row: Row) => row;
const renamed = ({ extra, ...row }: Row) => ({ ...row, more: extra });
const added: Change = {
  act: (table) => table.addColumns([{ name: "twice", valueSql: "id * 2" }]),
  row: (row) => ({ ...row, twice: Number(row["id"]) * 2 }),
};
const btree: Change = {
  act: (table) => table.createIndex("name", { config: lancedb.Index.btree() }),
  row: unchanged,
};
const nullable: Change = { act: (table) => table.alterColumns([{ path: "id", nullable: true }]), row: unchanged };
const rename: Change = { act: (table) => table.alterColumns([{ path: "extra", rename: "more" }]), row: renamed };
const written: Change = {
  async act(table) {
    await table.update({ where: "id % 5 = 1", valuesSql: { extra: "id + 1000" } });
    await table.delete("id % 9 = 2");
  },
  row(row) {
    const id = Number(row["id"]);
    if (id % 9 === 2) return undefined;
    return id % 5 === 1 ? { ...row, extra: id + 1000 } : row;
  },
};
const float: Change = {
  act: (table) => table.alterColumns([{ path: "score", dataType: new arrow.Float32() }]),
  row: (row) => ({ ...row, score: row["score"] === null ? null : Math.fround(row["score"] as number) }),
};
const dropped: Change = { act: (table) => table.dropColumns(["flag"]), row: (row) => without(row, "flag") };

/** What has been done to a table before a client meets it. */
export const states: Readonly<Record<string, readonly Change[]>> = {
  filled: [],
  empty: [{ act: (table) => table.delete("true"), row: () => undefined }],
  renameColumn: [rename],
  addColumn: [added],
  retypeColumn: [float],
  dropColumn: [dropped],
  setNullable: [nullable],
  createIndex: [btree],
  "updated and deleted": [written],
  "all of these": [written, added, rename, btree, nullable, float, dropped],
};

function without(row: Row, name: string): Row {
  return Object.fromEntries(Object.entries(row).filter(([key]) => key !== name));
}

export async function makeTable(folder: string, kind: string, state: string): Promise<Made> {
  const place = join(folder, kind, state);
  const db = await lancedb.connect(place, { storageOptions: creationOptions(kinds[kind]!) });
  try {
    const table = await db.createEmptyTable("t", schema);
    const rows = Array.from({ length: 40 }, (_, index) => rowOf(index + 1));
    await table.add(toArrow(rows.slice(0, 25)));
    await table.add(toArrow(rows.slice(25)));
    const changes = states[state]!;
    for (const { act } of changes) await act(table);
    const after = (row: Row) =>
      changes.reduce<Row | undefined>((now, change) => (now === undefined ? now : change.row(now)), row);
    const isLeft = (row: Row | undefined): row is Row => row !== undefined;
    const columns = (row: Row) =>
      changes
        .filter(({ row: make }) => make(rowOf(1)) !== undefined)
        .reduce((now, change) => change.row(now) ?? now, row);
    return {
      folder: place,
      version: await table.version(),
      rows: rows.map(after).filter(isLeft),
      row: (id) => columns(rowOf(id)),
    };
  } finally {
    db.close();
  }
}

function toArrow(rows: readonly Row[]) {
  const whole = rows.map((row) => ({
    ...row,
    raw: row["raw"] === null ? null : Buffer.from(row["raw"] as string, "hex"),
  }));
  return lancedb.makeArrowTable(whole, { schema });
}
