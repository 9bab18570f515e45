/** Examines old versions of a table, and restores them so that a repetition changes nothing. */
import { count, formatNumber } from "../../errors/migrate-error.ts";
import { sameColumns } from "../../schema/data-type.ts";
import { sqlPath } from "../../schema/sql.ts";
import type { OldVersion, Reinsertion, SinceScope } from "./versions.ts";
import { sameIds, tallyOf, writtenSince, type WrittenRows } from "./written-since.ts";
import type { VersionedTable } from "./versioned-table.ts";

interface RestoreRequest {
  readonly version: number;
  /** When it was created, if known. */
  readonly at?: number | undefined;
  /** The version that the migration left. It differs from the version to restore. */
  readonly after: number;
}

/** Returns the table's newest version. Throws if `version` no longer exists or belongs to another table. */
export async function restoreVersion(table: VersionedTable, { version, at, after }: RestoreRequest): Promise<number> {
  if (at !== undefined && (await table.list()).some((one) => one.version === version && (one.at ?? at) !== at))
    throw new Error(`version ${version} is not the one that the migration found: the table was dropped and recreated`);
  if ((await restoredAs(table, version, after)) === undefined) await table.restore(version);
  return await table.version();
}

/** See `misfitsSince` in versions.ts. */
export async function misfitsSince(table: VersionedTable, reinsertion: Reinsertion): Promise<string | undefined> {
  const newest = await table.version();
  const written = await sinceAny(table, reinsertion, newest);
  if (written?.addedRows === undefined || reinsertion.columns === undefined) return undefined;
  const { vectorWithNaN } = await import("../../wire/rows/read-values.ts");
  for await (const file of table.batches(newest, Object.entries(reinsertion.columns), written.addedRows)) {
    const name = vectorWithNaN(file);
    if (name !== undefined)
      return `the engine can't add vectors with NaN, and ${name} has some; change these rows first`;
  }
  return undefined;
}

/** Returns the table's newest version. Throws if the restored version has replaced what cannot be reinserted. */
export async function reinsertRows(table: VersionedTable, reinsertion: Reinsertion): Promise<number> {
  const { version, after, since = version, columns, leaves = [], mayBeDone = false } = reinsertion;
  const restored = await restoredAs(table, version, after);
  const way = `to continue without them, run migrate down --accept lossy`;
  const unsure = (why: string) =>
    new Error(`it is unknown what was written before version ${version} was restored: ${why}; ${way}`);
  if (restored === undefined) throw unsure("the version that was made of it was cleaned up");
  const source = restored - 1;
  const all = await versionsOf(table);
  if (!all.some((one) => one.version === source)) throw unsure(`version ${source}, which had it, was cleaned up`);
  if (source <= since) return await table.version();
  const written = await sinceAny(table, reinsertion, source);
  const holds = `version ${source} still holds them`;
  if (written === undefined) throw unsure(`versions ${since} and ${source} can't be compared`);
  const { added, addedRows } = written;
  const gone = written.changed + written.removed;
  if (gone > 0) {
    const wrote = added > 0 ? ` and ${formatNumber(added)} added` : "";
    throw new Error(
      `${count(gone, "row")} ${gone === 1 ? "was" : "were"} changed or removed${wrote} before version ${version} was restored, which undid that; ${holds}; ${way}`,
    );
  }
  if (added === 0) return await table.version();
  const lost = `${count(added, "row")} ${added === 1 ? "was" : "were"} added before version ${version} was restored`;
  if (columns === undefined || addedRows === undefined)
    throw new Error(`${lost} and can't be reinserted; ${holds}; ${way}`);
  const hasValue = leaves.map((name) => `${sqlPath([name])} is not null`).join(" or ");
  if (hasValue !== "" && (await table.count(source, `(${addedRows}) and (${hasValue})`)) > 0)
    throw new Error(
      `${lost}, and would lose what they have in ${leaves.join(", ")} if they were reinserted; ${holds}; to reinsert them without that, run migrate down --reinsert`,
    );
  const file = await table.rows(source, addedRows, Object.entries(columns));
  const { rowsInFile } = await import("../../wire/arrow/ipc-file.ts");
  const read = rowsInFile(file);
  if (read !== added) throw new Error(`${lost}, but ${formatNumber(read)} were read; ${holds}; ${way}`);
  const isThere = mayBeDone && (await wasAppended(table, restored, file, { rows: added, names: Object.keys(columns) }));
  if (isThere === undefined)
    throw new Error(`${lost}, and it is unknown whether they were reinserted; ${holds}; ${way}`);
  if (!isThere) await table.append(file);
  return await table.version();
}

/** Compares with version `since`; if it is gone or can't be compared, with the restored one, unless `writes` is set. */
async function sinceAny(
  table: VersionedTable,
  { version, after, since = version, writes }: Reinsertion,
  until: number,
): Promise<WrittenRows | undefined> {
  const all = await versionsOf(table);
  const isThere = (wanted: number) => all.some((one) => one.version === wanted);
  const scopes: (readonly [number, SinceScope])[] = [];
  if (since !== version) scopes.push([since, { until }]);
  if (writes !== true) scopes.push([version, { until, from: after }]);
  for (const [from, scope] of scopes) {
    const written = isThere(from) ? await writtenSince(table, from, scope) : undefined;
    if (written !== undefined) return written;
  }
  return undefined;
}

/** Whether a version was restored after another one. Throws if that is unknown. */
export async function isRestored(table: VersionedTable, { version, after }: RestoreRequest): Promise<boolean> {
  return (await restoredAs(table, version, after)) !== undefined;
}

/** The columns of a version, and whether it was restored after another one. */
export async function describeVersion(table: VersionedTable, version: number, after: number): Promise<OldVersion> {
  const restored = await restoredAs(table, version, after);
  return { columns: await table.columns(version), restored };
}

/**
 * The first version after `after` with the same files, columns and rows as `version`. Commits that change none of
 * these, such as that of an index, may follow it.
 */
async function restoredAs(table: VersionedTable, version: number, after: number): Promise<number | undefined> {
  const all = await versionsOf(table);
  const wanted = all.find((one) => one.version === version);
  if (wanted === undefined) throw new Error(`version ${version} is gone: old versions were cleaned up`);
  const like = all.filter((one) => one.version > after && one.totals === wanted.totals);
  if (like.length === 0) return undefined;
  const columns = await table.columns(version);
  for (const one of like) {
    const others = await table.columns(one.version);
    if (!sameColumns(columns, others) || !sameColumns(others, columns)) continue;
    if (await holdSameRows(table, version, one.version)) return one.version;
  }
  return undefined;
}

/** Of two versions with the same columns and equally many files and rows. Throws if that is unknown. */
async function holdSameRows(table: VersionedTable, version: number, other: number): Promise<boolean> {
  const [one, two] = [await table.contents?.(version), await table.contents?.(other)];
  if (one !== undefined && two !== undefined) return one.files === two.files && sameIds(one, two, [...one.ids.keys()]);
  const written = await writtenSince(table, version, { until: other });
  if (written !== undefined) return written.added + written.changed + written.removed === 0;
  // There are too many rows to compare by value. A column that was dropped and added again holds only nulls.
  const tallies = [await tallyOf(table, version, Infinity), await tallyOf(table, other, Infinity)] as const;
  if (tallies[0] === undefined || tallies[1] === undefined)
    throw new Error(`versions ${version} and ${other} can't be compared`);
  if (tallies[0].rows !== tallies[1].rows || tallies[0].sum !== tallies[1].sum) return false;
  for (const { name } of await table.columns(version)) {
    const isNull = `${sqlPath([name])} is null`;
    if ((await table.count(version, isNull)) !== (await table.count(other, isNull))) return false;
  }
  return true;
}

/** Whether these rows were added since, which only an earlier try can have done. Undefined if that is unknown. */
async function wasAppended(
  table: VersionedTable,
  restored: number,
  file: Buffer,
  { rows, names }: { readonly rows: number; readonly names: readonly string[] },
): Promise<boolean | undefined> {
  // The file has no columns that are null in all of its rows.
  const columns = names.map((name) => [name, sqlPath([name])] as const);
  const all = await versionsOf(table);
  for (const [index, { version, rows: then }] of all.entries()) {
    const before = all[index - 1];
    if (version <= restored || before === undefined || then - before.rows !== rows) continue;
    const written = await writtenSince(table, before.version, { until: version });
    if (written?.addedRows === undefined) return undefined;
    const are = written.added === rows && (await sameRows(file, await table.rows(version, written.addedRows, columns)));
    if (are !== false) return are;
  }
  return false;
}

/** Undefined if they have a type that can't be read. */
async function sameRows(one: Buffer, other: Buffer): Promise<boolean | undefined> {
  if (one.equals(other)) return true;
  const { sumOfRows } = await import("../../wire/rows/row-checksum.ts");
  try {
    const [first, second] = [await sumOfRows([one]), await sumOfRows([other])];
    return first.rows === second.rows && first.sum === second.sum;
  } catch {
    return undefined;
  }
}

interface Version {
  readonly version: number;
  readonly rows: number;
  /** The totals of its files and rows, which are equal for two versions that hold the same. */
  readonly totals: string;
}

/** In ascending order. */
async function versionsOf(table: VersionedTable): Promise<readonly Version[]> {
  return (await table.list()).map(({ version, metadata }) => {
    const rows = Number(metadata["total_rows"]);
    if (Number.isNaN(rows)) throw new Error("its list of versions does not tell how many rows each has");
    const totals = Object.entries(metadata).toSorted(([one], [other]) => (one < other ? -1 : 1));
    return { version, rows, totals: JSON.stringify(totals) };
  });
}
