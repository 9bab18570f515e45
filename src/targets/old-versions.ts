/** What old versions of a table tell, and restoring them so that doing it once more changes nothing. */
import { sameColumns, type Column } from "../schema/data-type.ts";
import type { Since } from "./target.ts";

/** What a target has to tell of the versions of one table. */
export interface VersionedTable {
  /** The newest. */
  version(): Promise<number>;
  list(): Promise<readonly { readonly version: number; readonly metadata: Readonly<Record<string, string>> }[]>;
  columns(version: number): Promise<readonly Column[]>;
  /** Rows for which an SQL predicate holds, of a version or of the table as it is. */
  count(version: number | undefined, filter?: string): Promise<number>;
  /** Of all rows: the number of the fragment, times 2^32, and the place in it. */
  addresses(version: number): Promise<AsyncIterable<BigUint64Array> | Iterable<BigUint64Array>>;
  /** An Arrow IPC file. */
  rows(version: number, filter: string, columns?: readonly (readonly [name: string, sql: string])[]): Promise<Buffer>;
  restore(version: number): Promise<void>;
  append(file: Buffer): Promise<void>;
}

/**
 * How many rows a table has, or had at a newer version, that a version has not; and how many of that version's rows it has
 * no more as they were.
 */
export async function writtenSince(table: VersionedTable, version: number, until?: number): Promise<Since> {
  const end = await endOf(table, version);
  const rows = await table.count(version);
  // A row that is changed moves to a new fragment.
  const stayed = await table.count(until, `_rowaddr < ${end}`);
  return { added: await table.count(until, `_rowaddr >= ${end}`), gone: rows - stayed };
}

/** Gives the table's version. `after`: one that is older than any restoring of the version that counts. */
export async function restoreVersion(table: VersionedTable, version: number, after: number): Promise<number> {
  if ((await restoredAs(table, version, after)) === undefined) await table.restore(version);
  return await table.version();
}

/** Gives the table's version. `columns`: SQL for each of the table's columns over those before the version was restored. */
export async function putBack(
  table: VersionedTable,
  version: number,
  after: number,
  columns: Readonly<Record<string, string>>,
): Promise<number> {
  const restored = await restoredAs(table, version, after);
  if (restored === undefined) throw new Error(`version ${version} was not restored`);
  const filter = `_rowaddr >= ${await endOf(table, version)}`;
  const source = restored - 1;
  const rows = await table.count(source, filter);
  if (rows > 0) {
    const file = await table.rows(source, filter, Object.entries(columns));
    if (!(await isThere(table, restored, rows, file))) await table.append(file);
  }
  return await table.version();
}

/** The newest version that this one was restored as, if it was. */
async function restoredAs(table: VersionedTable, version: number, after: number): Promise<number | undefined> {
  const all = await versionsOf(table);
  const wanted = all.find((one) => one.version === version);
  if (wanted === undefined) throw gone(version);
  const like = all.filter((one) => one.version > after && one.totals === wanted.totals).toReversed();
  if (like.length === 0) return undefined;
  const columns = await table.columns(version);
  for (const one of like) {
    const others = await table.columns(one.version);
    if (sameColumns(columns, others) && sameColumns(others, columns)) return one.version;
  }
  return undefined;
}

/** Whether somebody, who can only have been an earlier try, has added these rows since. */
async function isThere(table: VersionedTable, restored: number, rows: number, file: Buffer): Promise<boolean> {
  const { haveSameRows } = await import("../wire/same-rows.ts"); // Arrow is slow to load
  const all = await versionsOf(table);
  for (const [index, { version, rows: then }] of all.entries()) {
    const before = all[index - 1];
    if (version <= restored || before === undefined || then - before.rows !== rows) continue;
    const added = await table.rows(version, `_rowaddr >= ${await endOf(table, before.version)}`);
    // Where nobody can compare them: there are as many.
    if (haveSameRows(added, file) !== false) return true;
  }
  return false;
}

/** The first address that no row of a version has or had: those of later rows are higher. Throws where the version is gone. */
async function endOf(table: VersionedTable, version: number): Promise<bigint> {
  if (!(await versionsOf(table)).some((one) => one.version === version)) throw gone(version);
  let last = -1n;
  for await (const batch of await table.addresses(version))
    for (const address of batch) if (address > last) last = address;
  return ((last >> 32n) + 1n) << 32n;
}

interface Version {
  readonly version: number;
  readonly rows: number;
  /** Of its files and rows: what two versions share that hold the same. */
  readonly totals: string;
}

/** In their order. */
async function versionsOf(table: VersionedTable): Promise<readonly Version[]> {
  return (await table.list())
    .map(({ version, metadata }) => {
      const rows = Number(metadata["total_rows"]);
      if (Number.isNaN(rows)) throw new Error("its list of versions does not tell how many rows each has");
      const totals = Object.entries(metadata).toSorted(([one], [other]) => (one < other ? -1 : 1));
      return { version, rows, totals: JSON.stringify(totals) };
    })
    .toSorted((one, other) => one.version - other.version);
}

function gone(version: number): Error {
  return new Error(`version ${version} is gone: old versions were cleaned up`);
}
