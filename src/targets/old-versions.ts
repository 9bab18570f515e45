/** What old versions of a table tell, and restoring them so that doing it once more changes nothing. */
import { sameColumns, type Column } from "../schema/data-type.ts";
import type { OldVersion, Since, TableVersion } from "./target.ts";

/** What a target has to tell of the versions of one table. */
export interface VersionedTable {
  /** The newest. */
  version(): Promise<number>;
  list(): Promise<readonly (TableVersion & { readonly metadata: Readonly<Record<string, string>> })[]>;
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
  const added = await table.count(until, `_rowaddr >= ${end}`);
  const gone = rows - stayed;
  const mayHaveMoved = added > 0 && added === gone && rows <= mostCompared;
  return mayHaveMoved && (await haveJustMoved(table, version, until)) ? { added: 0, gone: 0 } : { added, gone };
}

/** So many rows are read to see whether they are the same ones. */
const mostCompared = 10_000;

/** Whether a table holds what it held: compaction gives rows new addresses. */
async function haveJustMoved(table: VersionedTable, version: number, until?: number): Promise<boolean> {
  try {
    const now = until ?? (await table.version());
    const [before, after] = [await table.columns(version), await table.columns(now)];
    if (!sameColumns(before, after) || !sameColumns(after, before)) return false;
    const { haveSameRows } = await import("../wire/same-rows.ts"); // Arrow is slow to load
    return haveSameRows(await table.rows(version, "true"), await table.rows(now, "true")) === true;
  } catch {
    // Rows that can't be read can't be told from others.
    return false;
  }
}

/** Gives the table's version. `after`: the version that the migration left, and what is restored differs from it. */
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
  const source = restored - 1;
  const way = `migrate down --accept-loss goes on without the rows that came after version ${version}`;
  if (!(await versionsOf(table)).some((one) => one.version === source))
    throw new Error(`version ${source}, which held the rows that came since, was cleaned up: ${way}`);
  const written = await writtenSince(table, version, source);
  if (written.added > 0) {
    if (written.gone > 0)
      throw new Error(
        `rows were changed or moved before version ${version} was restored, so that nobody can tell which are new: ${way}`,
      );
    const filter = `_rowaddr >= ${await endOf(table, version)}`;
    const file = await table.rows(source, filter, Object.entries(columns));
    const { rowsInFile } = await import("../wire/ipc-file.ts"); // Arrow is slow to load
    if (rowsInFile(file) !== written.added)
      throw new Error(`${rowsInFile(file)} of ${written.added} rows were read; ${way}`);
    if (!(await isThere(table, restored, written.added, file))) await table.append(file);
  }
  return await table.version();
}

/** In their order, without what only this file reads. */
export async function listVersions(table: VersionedTable): Promise<readonly TableVersion[]> {
  return (await table.list())
    .map(({ version, at }) => ({ version, at }))
    .toSorted((one, other) => one.version - other.version);
}

/** What a table's version was like, and whether it was restored after another one. */
export async function lookAtVersion(table: VersionedTable, version: number, after: number): Promise<OldVersion> {
  if (!(await versionsOf(table)).some((one) => one.version === version)) throw gone(version);
  return {
    columns: await table.columns(version),
    isRestored: (await restoredAs(table, version, after)) !== undefined,
  };
}

/**
 * The first version after another one that holds the very same as this: the same files, columns and rows in the same places.
 * A commit that leaves all that as it is, such as one of an index, may come after it.
 */
async function restoredAs(table: VersionedTable, version: number, after: number): Promise<number | undefined> {
  const all = await versionsOf(table);
  const wanted = all.find((one) => one.version === version);
  if (wanted === undefined) throw gone(version);
  const like = all.filter((one) => one.version > after && one.totals === wanted.totals);
  if (like.length === 0) return undefined;
  const [columns, places] = [await table.columns(version), await placesOf(table, version)];
  for (const one of like) {
    const others = await table.columns(one.version);
    if (!sameColumns(columns, others) || !sameColumns(others, columns)) continue;
    if ((await placesOf(table, one.version)) === places) return one.version;
  }
  return undefined;
}

/** A text that is another one when a row has come, gone or moved, in whatever order they are read: a row that is changed moves. */
async function placesOf(table: VersionedTable, version: number): Promise<string> {
  let rows = 0;
  let sum = 0n;
  let mixed = 0n;
  for await (const batch of await table.addresses(version))
    for (const address of batch) {
      rows++;
      sum += address;
      mixed ^= BigInt.asUintN(64, (address + 1n) * (address + 0x9e37_79b9_7f4a_7c15n));
    }
  return `${rows} ${sum} ${mixed}`;
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
