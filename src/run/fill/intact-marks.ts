/** Marks of the old values that a rollback brings back, so that only those of rows that have changed are computed. */
import type { Action, PrepareColumnAction } from "../../actions/model/action.ts";
import { copyName, keptMark } from "../../actions/rewrite/prepared-columns.ts";
import { isIntact, markColumn, markSql, printMark, printSql, valueMark } from "../../actions/rewrite/source-marks.ts";
import type { Column } from "../../schema/data-type.ts";
import { formatPath } from "../../schema/path.ts";
import { requireColumn } from "../../schema/table.ts";
import { patience } from "../../targets/contract/retry.ts";
import { has, type PrepareContext, type PreparedTable } from "./prepared-table.ts";

/**
 * Adds the column of marks, unless it is there, with those of the rows whose old value is intact. In one commit, that would
 * take so long that writers come first each time. So the marks are loaded, if possible: under another name until all are
 * there. What an earlier run has loaded is not used, as rows may have got other values since.
 */
export async function addIntactMarks(
  prepared: PreparedTable,
  action: PrepareColumnAction,
  { loadMarks }: Pick<PrepareContext, "loadMarks">,
): Promise<void> {
  const { table } = action;
  const { mark, next } = prepared;
  const draft = copyName(mark);
  await prepared.drop([draft]);
  const columns = await prepared.columns();
  if (has(columns, mark)) return;
  const as = marksOf(action, next, columns);
  let isLoaded = false;
  if (loadMarks !== undefined) {
    await add({ kind: "addColumns", table, columns: [markColumn(draft)] }, [draft, mark]);
    const { commits, problem } = await loadMarks(prepared.filling(next), draft, as);
    prepared.commits += commits;
    isLoaded = problem === undefined;
  }
  if (isLoaded)
    return await add({ kind: "alterColumns", table, alterations: [{ path: formatPath([draft]), rename: mark }] }, [
      mark,
    ]);
  await add({ kind: "addColumns", table, columns: [{ ...markColumn(mark), as }] }, [mark]);
  await prepared.drop([draft]);

  async function add(adding: Action, names: readonly string[]): Promise<void> {
    await prepared.change((now) => (names.some((name) => has(now, name)) ? undefined : adding), patience.ahead);
  }
}

/** SQL for the marks; null for the rows whose old value is not intact. */
function marksOf(action: PrepareColumnAction, old: string, columns: readonly Column[]): string {
  const kept = keptMark(old);
  const marked = has(columns, kept) ? action.marked : undefined;
  const print = printSql(old, requireColumn(action.table, columns, [old]).type);
  const own =
    print === undefined ? markSql(action) : `concat(${markSql(action)}, '${valueMark}${printMark}', ${print})`;
  return `case when ${isIntact(action, old, marked, kept)} then ${own} end`;
}
