/** Rows that were read, and their keys and addresses. */
import type { FillColumnAction } from "../../actions/model/action.ts";
import { rowAddress } from "../../actions/rewrite/source-marks.ts";
import type { RowValues } from "../../schema/row-values.ts";
import { FillFailed } from "./fill-failed.ts";

/** The addresses of a fragment's rows begin with its number, which is higher than those of all older ones. */
const fragmentSize = 2 ** 32;

/** Above the addresses of these rows: those of a new fragment, to which a change moves a row. */
export function boundOf(rows: readonly RowValues[]): number {
  const last = rows.reduce((most, row) => Math.max(most, Number(row[rowAddress])), 0);
  return (Math.floor(last / fragmentSize) + 1) * fragmentSize;
}

/** Throws FillFailed: a merge could not tell two rows apart. */
export function requireUnique(rows: readonly RowValues[], { table, key }: FillColumnAction): void {
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
