/** Rows that were read, and their keys and addresses. */
import type { FillColumnAction } from "../../actions/model/action.ts";
import { markIn, rowAddress } from "../../actions/rewrite/source-marks.ts";
import { isInteger, type Column } from "../../schema/data-type.ts";
import type { RowValues } from "../../schema/row-values.ts";
import { sqlPath, sqlText } from "../../schema/sql.ts";
import type { RowAccess } from "../../targets/contract/row-access.ts";
import { FillFailed } from "./fill-failed.ts";

/** The addresses of a fragment's rows begin with its number, which is higher than those of all older ones. */
const fragmentSize = 2 ** 32;

/** Above the addresses of these rows: those of a new fragment, to which a change moves a row. */
export function boundOf(rows: readonly RowValues[]): number {
  const last = rows.reduce((most, row) => Math.max(most, Number(row[rowAddress])), 0);
  return (Math.floor(last / fragmentSize) + 1) * fragmentSize;
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
    const where = own === null ? "null in a row" : `${JSON.stringify(own)} in 2 rows or more`;
    throw new FillFailed(`${table}.${key} is ${where}, so it can't identify rows`);
  }
}

/** The version of the table when rows were found to lack a value, and a bound above their addresses. */
export interface Seen {
  readonly version: number | undefined;
  readonly before: number;
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
const mostKeys = 500;

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
    const keys = others.slice(next, next + mostKeys).map((row) => keySql(row, key));
    await look(`${sqlPath([key.name])} in (${keys.join(", ")}) and (${pending})`);
  }
  const [name] = mark;
  const left = values.filter((row) => rowOf(row)?.[name] === markIn(row[name] as string));
  return [left, { version, before: boundOf(left.map((row) => rowOf(row)!)) }];
}

function keySql(row: RowValues, { name, type }: Column): string {
  const text = String(row[name]);
  return isInteger(type) ? text : sqlText(text);
}
