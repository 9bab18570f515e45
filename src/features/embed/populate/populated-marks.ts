/** The marks of rows that code of the project computes from rows of another table. */
import type { PopulateTableAction } from "../../../actions/model/action.ts";
import { populating } from "../../../actions/rewrite/populating.ts";
import { codeMark, codePart, markIn, markSql, valueMark } from "../../../actions/rewrite/source-marks.ts";

/** SQL for the mark of a row of the source table. The key is in it, so no two rows have the same. */
export function sourceMarkSql(action: PopulateTableAction): string {
  return `arrow_cast(${markSql(populating(action))}, 'Utf8')`;
}

/**
 * The mark of each of the rows that were computed from one row: how many there are, and the append that wrote them. So it
 * shows when an append was made twice, by a call whose answer was lost or that came late.
 */
export function populatedMark(
  source: string,
  rows: number,
  append: string,
  code: { readonly codeHash?: string | undefined },
): string {
  return `${source}${valueMark}${rows}.${append}${codePart(code)}`;
}

/** Whether a mark is that of this number of rows, computed from what has the mark `source`. */
export function isMarkOf(mark: string, source: string, rows: number): boolean {
  return markIn(mark) === source && rowsInMark(mark) === rows;
}

function rowsInMark(mark: string): number {
  return Number(mark.split(codeMark)[0]!.split(valueMark)[1]?.split(".")[0]);
}
