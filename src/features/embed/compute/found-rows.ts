/** Rows that were read, and their keys and addresses; and those for which `where` does not hold any more. */
import type { FillColumnAction } from "../../../actions/model/action.ts";
import { markIn, markName, rowAddress } from "../../../actions/rewrite/source-marks.ts";
import { hasLeft } from "../calls/mark-conditions.ts";
import { isInteger, type Column, type DataType } from "../../../schema/data-type.ts";
import { widthOf } from "../../../schema/type-width.ts";
import type { RowValue, RowValues } from "../../../schema/row-values.ts";
import { sqlPath, sqlText } from "../../../schema/sql.ts";
import type { RowAccess } from "../../../targets/contract/row-access.ts";
import type { FillContext } from "./fill-context.ts";
import { FillFailed } from "../calls/fill-failed.ts";
import { inShard } from "./shard.ts";

/** About how many bytes of values and of sources, and at most how many rows, a page has. All are in memory. */
const pageBytes = 32 * 2 ** 20;
export const mostPageRows = 50_000;

/** How many rows a page of a column of this type may have. `rowBytes`: the size of what was read for a row. */
export function rowsOfPage(type: DataType, rowBytes: number): number {
  const { fixed, variable } = widthOf(type);
  const bytes = Math.max(fixed + variable * 1_000, rowBytes, 8);
  return Math.max(1, Math.min(mostPageRows, Math.floor(pageBytes / bytes)));
}

export function addressesOf(rows: readonly RowValues[]): readonly number[] {
  return rows.map((row) => Number(row[rowAddress]));
}

/** Throws FillFailed: a merge could not tell two rows apart. */
export function requireUnique(
  rows: readonly RowValues[],
  { table, key }: Pick<FillColumnAction, "table" | "key">,
): void {
  const seen = new Set<string>();
  for (const row of rows) {
    const own = row[key] ?? null;
    const text = String(own);
    if (own !== null && !seen.has(text)) {
      seen.add(text);
      continue;
    }
    throw new FillFailed(
      own === null ? `${table}.${key} is null in a row, so it can't identify rows` : repeated(table, key, own),
    );
  }
}

export function repeated(table: string, key: string, own: RowValue): string {
  return `${table}.${key} is ${JSON.stringify(own)} in 2 rows or more, so it can't identify rows`;
}

/** The version of the table when rows were found to lack a value, and their addresses. */
export interface Seen {
  readonly version: number | undefined;
  readonly addresses: readonly number[];
}

export interface PendingRows {
  readonly rows: RowAccess;
  readonly table: string;
  readonly key: Column;
  /** The name and the SQL of the mark of a row's present sources. */
  readonly mark: readonly [name: string, sql: string];
  /** An SQL predicate for all rows that lack a value. */
  readonly pending: string;
}

/** How many rows are looked for by their keys at a time: the engine holds the list once for each file of the table. */
export const mostKeys = 500;

/** Those of the values whose rows lack them and still have the sources that they were computed from. */
export async function stillPending(
  values: readonly RowValues[],
  { rows, table, key, mark, pending }: PendingRows,
): Promise<[readonly RowValues[], Seen]> {
  const version = await rows.version(table);
  const select = [[key.name, sqlPath([key.name])], mark, [rowAddress, rowAddress]] as const;
  const found = new Map<string, RowValues>();
  const rowOf = (row: RowValues) => found.get(String(row[key.name]));
  const look = async (where: string, limit?: number) => {
    for (const row of await rows.read(table, { select, where, limit })) found.set(String(row[key.name]), row);
  };
  // A page has the first rows without a value, as a rule. Those that moved behind others are looked for by their keys.
  await look(pending, 2 * values.length);
  const others = values.filter((row) => rowOf(row) === undefined);
  for (let next = 0; next < others.length; next += mostKeys) {
    await look(`${keysIn(others.slice(next, next + mostKeys), key)} and (${pending})`);
  }
  const [name] = mark;
  const left = values.filter((row) => rowOf(row)?.[name] === markIn(row[name] as string));
  return [left, { version, addresses: addressesOf(left.map((row) => rowOf(row)!)) }];
}

/** An SQL predicate for the rows with the keys of these. */
export function keysIn(rows: readonly RowValues[], { name, type }: Column): string {
  const keys = rows.map((row) => (isInteger(type) ? String(row[name]) : sqlText(String(row[name]))));
  return `${sqlPath([name])} in (${keys.join(", ")})`;
}

/**
 * Removes their values, if only this fill writes to the column. Otherwise they may be those of an application: `kept`
 * is how many rows keep one although their sources have changed.
 */
export async function clearLeft(
  action: FillColumnAction,
  column: string,
  { rows, mayWrite, shard }: Pick<FillContext, "rows" | "mayWrite" | "shard">,
): Promise<{ readonly kept: number; readonly commits: number }> {
  const { where, table, mark = markName, keepsFailed = false } = action;
  if (where === undefined) return { kept: 0, commits: 0 };
  // A rollback gives values to a column that has some.
  const overwrite = action.overwrite === true && !keepsFailed;
  const left = hasLeft({ ...action, overwrite, where });
  const mine = shard === undefined ? left : `(${left}) and (${inShard(shard, action.key)})`;
  const select = [["mark", sqlPath([mark])]] as const;
  const found = (await rows.read(table, { select, where: mine, limit: overwrite ? 1 : undefined })).length;
  if (!overwrite || found === 0) return { kept: found, commits: 0 };
  await mayWrite();
  // In one commit: `where` may hold again for a row that has lost only its value, and by its mark it would be done.
  await rows.setNull(table, [column, mark], mine);
  return { kept: 0, commits: 1 };
}
