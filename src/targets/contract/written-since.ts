/** Finds the rows of a table that were written after a version. Rows count as unchanged only if that is proven. */
import { withoutPrepared } from "../../actions/rewrite/prepared-columns.ts";
import { isMigrateError } from "../../errors/migrate-error.ts";
import { sameColumns, sameType, type Column } from "../../schema/data-type.ts";
import { withoutMetadata } from "../../schema/metadata.ts";
import type { VersionContents, VersionedTable } from "./versioned-table.ts";
import { mostVersions, type Since, type SinceScope } from "./versions.ts";

export interface WrittenRows extends Since {
  /** A filter on the newer version that selects the added rows; undefined if they can't be selected. */
  readonly addedRows: string | undefined;
}

const nothing: WrittenRows = { added: 0, changed: 0, removed: 0, addedRows: "false" };

/** Undefined if it cannot be determined. Throws if the version no longer exists. */
export async function writtenSince(
  table: VersionedTable,
  version: number,
  { until, from = version, mayHaveMore = false }: SinceScope = {},
): Promise<WrittenRows | undefined> {
  const versions = (await table.list()).map((one) => one.version);
  if (!versions.includes(version)) throw new Error(`version ${version} is gone: old versions were cleaned up`);
  const newest = until ?? Math.max(...versions);
  if (newest === version || (await holdSameFiles(table, version, newest))) return nothing;
  const counted = await byRowIds(table, version, newest);
  const isSure = counted !== undefined && counted.changed + counted.removed > 0;
  if (isSure || (counted !== undefined && (await keptColumns(table, versions, from, newest)))) return counted;
  return await byValues(table, version, newest, mayHaveMore);
}

/** Whether only what is no row differs, such as indexes and metadata. */
async function holdSameFiles(table: VersionedTable, version: number, newest: number): Promise<boolean> {
  const before = await table.contents?.(version);
  const after = before && (await table.contents?.(newest));
  return after !== undefined && before!.files === after.files && sameIds(before!, after, commonNames(before!, after));
}

/**
 * By the versions that added each row and changed it last, which tables with stable row ids store. Undefined if the
 * table is not proven to have such ids, if another old version was restored in between, or if every row counts as
 * changed: adding or retyping a column has that effect too, although the values may be the same.
 */
async function byRowIds(table: VersionedTable, version: number, newest: number): Promise<WrittenRows | undefined> {
  const before = await tallyOf(table, version, version);
  const after = before && (await tallyOf(table, newest, version));
  if (after === undefined || !(before!.hasStableIds || after.hasStableIds)) return undefined;
  const { added, changed, unchanged } = after;
  const removed = before!.rows - unchanged - changed;
  if (removed < 0 || (unchanged === 0 && changed > 0)) return undefined;
  if (changed + removed === 0 && before!.sum !== after.sum) return undefined;
  return { added, changed, removed, addedRows: `_row_created_at_version > ${version}` };
}

interface RowCounts {
  readonly rows: number;
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  /** A checksum of the unchanged rows, independent of their order. */
  readonly sum: string;
  readonly hasStableIds: boolean;
}

/** Undefined if the target does not provide these columns. */
export async function tallyOf(table: VersionedTable, version: number, since: number): Promise<RowCounts | undefined> {
  const { rowIdColumns, rowIdsOf } = await import("../../wire/rows/row-ids.ts");
  const sums = new Uint32Array(4);
  let [rows, added, changed, hasStableIds] = [0, 0, 0, false];
  try {
    for await (const file of table.batches(version, rowIdColumns))
      for (const { count, id, address, created, updated } of rowIdsOf(file)) {
        rows += count;
        for (let at = 0; at < count; at++) {
          const [createdAt, updatedAt] = [wholeAt(created, at), wholeAt(updated, at)];
          hasStableIds ||= createdAt > 1 || updatedAt > 1 || wholeAt(id, at) !== wholeAt(address, at);
          if (createdAt > since) added++;
          else if (updatedAt > since) changed++;
          else mixInto(sums, id[2 * at]!, id[2 * at + 1]!, createdAt, updatedAt);
        }
      }
  } catch (cause) {
    if (isMigrateError(cause)) throw cause;
    return undefined;
  }
  return { rows, added, changed, unchanged: rows - added - changed, sum: sums.join(" "), hasStableIds };
}

function wholeAt(words: Uint32Array, at: number): number {
  return words[2 * at + 1]! * 2 ** 32 + words[2 * at]!;
}

/** Adds a hash of the four numbers to each of the sums. */
function mixInto(sums: Uint32Array, ...words: readonly number[]): void {
  for (let sum = 0; sum < sums.length; sum++) {
    let hash = 0x9e3779b9 * (sum + 1);
    for (const word of words) {
      hash = Math.imul(hash ^ word, 0x85ebca6b);
      hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
      hash ^= hash >>> 16;
    }
    sums[sum]! += hash;
  }
}

/**
 * Whether each column that both versions have is the same one throughout. A column that was dropped and added again as
 * null, and two columns that exchanged names, leave no trace in the rows.
 */
async function keptColumns(
  table: VersionedTable,
  versions: readonly number[],
  from: number,
  newest: number,
): Promise<boolean> {
  const [first, now] = [await table.contents?.(from), await table.contents?.(newest)];
  if (first !== undefined && now !== undefined) return sameIds(first, now, commonNames(first, now));
  const between = versions.filter((version) => version > from && version < newest);
  if (between.length !== newest - from - 1 || between.length > mostVersions || !versions.includes(from)) return false;
  // Two columns that exchange names in one commit exist in every version, so any other schema may hide that.
  const columns = await table.columns(from);
  for (const version of [...between, newest]) if (!sameColumns(columns, await table.columns(version))) return false;
  return true;
}

function commonNames(one: VersionContents, other: VersionContents): readonly string[] {
  return [...one.ids.keys()].filter((name) => other.ids.has(name));
}

export function sameIds(one: VersionContents, other: VersionContents, names: readonly string[]): boolean {
  return names.every((name) => one.ids.get(name) === other.ids.get(name));
}

/** The columns that `others` has too, with the same type. Metadata inside a type changes no values. */
export function common<One extends Pick<Column, "name" | "type">>(
  columns: readonly One[],
  others: readonly Column[],
): readonly One[] {
  const bare = ({ name, type }: Pick<Column, "name" | "type">) => withoutMetadata({ name, type, nullable: true }).type;
  return columns.filter((one) => others.some((other) => other.name === one.name && sameType(bare(other), bare(one))));
}

/**
 * Compares every value. Columns that only the older version has are ignored, because the migration dropped them.
 * Undefined if values cannot be read or compared, or are too many.
 */
async function byValues(
  table: VersionedTable,
  version: number,
  newest: number,
  mayHaveMore: boolean,
): Promise<WrittenRows | undefined> {
  // Columns that hold what is computed for a switch are the migration's own. Nobody else writes to them.
  const [before, after] = [
    withoutPrepared({ columns: await table.columns(version) }).columns,
    withoutPrepared({ columns: await table.columns(newest) }).columns,
  ];
  const shared = common(after, before);
  const isComparable = shared.length === after.length || (mayHaveMore && shared.length === before.length);
  const { canRead, rowDifference } = await import("../../wire/rows/row-checksum.ts");
  if (!isComparable || !canRead(shared)) return undefined;
  const rows = Math.max(await table.count(version), await table.count(newest));
  if (rows > table.mostCompared) return undefined;
  const names = shared.map(({ name }) => name);
  const { added, removed } = await rowDifference(
    table.batches(version, [...names, "_rowid"]),
    table.batches(newest, [...names, "_rowid"]),
    "_rowid",
  );
  return { added: added.length, changed: 0, removed, addedRows: filterOf(added) };
}

/** A filter for rows by their ids. Neither form may nest deeply, because the engine's parser would fail. */
function filterOf(ids: readonly bigint[]): string {
  const spans: [first: bigint, last: bigint][] = [];
  for (const id of ids.toSorted((one, other) => (one < other ? -1 : 1))) {
    const last = spans.at(-1);
    if (last !== undefined && last[1] + 1n === id) last[1] = id;
    else spans.push([id, id]);
  }
  if (spans.length === 0) return "false";
  if (spans.length > 50) return `_rowid in (${ids.join(", ")})`;
  return spans.map(([first, last]) => `(_rowid >= ${first} and _rowid <= ${last})`).join(" or ");
}
