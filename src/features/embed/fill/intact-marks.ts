/** Marks of the old values that a rollback brings back, so that only those of rows that have changed are computed. */
import type { Action, PrepareColumnAction } from "../../../actions/model/action.ts";
import { copyName, keptMark } from "../../../actions/rewrite/prepared-columns.ts";
import { isIntact, isNever, markColumn, markSql, printMark, valueMark } from "../../../actions/rewrite/source-marks.ts";
import { isCurrent, printSql } from "../calls/mark-conditions.ts";
import type { Column } from "../../../schema/data-type.ts";
import { formatPath } from "../../../schema/path.ts";
import { sqlPath } from "../../../schema/sql.ts";
import { requireColumn } from "../../../schema/table.ts";
import { patience, type Patience } from "../../../targets/contract/retry.ts";
import { FillFailed } from "../calls/fill-failed.ts";
import { ValueMerger } from "./merge-values.ts";
import { has, type PrepareContext, type PreparedTable } from "./prepared-table.ts";

/** How many rows' marks are merged at a time: whatever their number, the engine reads the whole table. */
const mostMarks = 50_000;

/** Each try reads the whole table. If writers come first both times, the marks are merged. */
const atOnce: Patience = { ...patience.detour, tries: 2 };

/** How many pages may follow each other of which no mark could be merged. */
const mostVain = 5;

/**
 * Adds the column of marks, unless it is there, with those of the rows whose old value is intact. Before a commit of all
 * marks, writers may come first each time. So they are loaded if possible, or else merged if they can't be added at once:
 * under another name until all are there. What an earlier run has written there is not used, as rows may have got other
 * values since.
 */
export async function addIntactMarks(
  prepared: PreparedTable,
  action: PrepareColumnAction,
  context: PrepareContext,
): Promise<void> {
  const { loadMarks, phases, rows, signal } = context;
  const verdict = (error: unknown) => context.target.verdict(error);
  const { table, key } = action;
  const { mark, next } = prepared;
  const draft = copyName(mark);
  await prepared.drop([draft]);
  const columns = await prepared.columns();
  if (has(columns, mark)) return;
  const intact = whereIntact(action, next, columns);
  const own = ownMark(action, next, columns);
  const sql = `case when ${intact} then ${own} end`;
  if (!(await load()) && !(await addAtOnce())) await merge();
  const alterations = [{ path: formatPath([draft]), rename: mark }];
  if (has(await prepared.columns(), draft)) await change({ kind: "alterColumns", table, alterations }, [mark]);
  // Another process may have added the marks.
  await prepared.drop([draft]);

  async function change(action: Action, unless: readonly string[], allowed: Patience = patience.ahead): Promise<void> {
    await prepared.change((now) => (unless.some((name) => has(now, name)) ? undefined : action), allowed);
  }

  async function addDraft(): Promise<void> {
    await change({ kind: "addColumns", table, columns: [markColumn(draft)] }, [draft, mark]);
  }

  async function load(): Promise<boolean> {
    if (loadMarks === undefined || intact === isNever) return false;
    await addDraft();
    await phases.enter("loading");
    const { commits, problem } = await loadMarks(prepared.filling(next), draft, sql);
    prepared.commits += commits;
    return problem === undefined;
  }

  /** Each try reads the whole table, unless there is nothing to mark. */
  async function addAtOnce(): Promise<boolean> {
    const isEmpty = intact === isNever;
    const added = isEmpty ? markColumn(mark) : { ...markColumn(mark), as: sql };
    try {
      await change({ kind: "addColumns", table, columns: [added] }, [mark], isEmpty ? patience.ahead : atOnce);
      return true;
    } catch (error) {
      if (isEmpty || verdict(error).kind !== "conflict") throw error;
      return false;
    }
  }

  async function merge(): Promise<void> {
    await addDraft();
    const marked = [requireColumn(table, columns, [key]), markColumn(draft)];
    const wanted = {
      select: [[key, sqlPath([key])] as const, [draft, `arrow_cast(${own}, 'Utf8')`] as const],
      where: `${sqlPath([draft])} is null and ${sqlPath([key])} is not null and ${intact}`,
      limit: mostMarks,
    };
    // A row may have been deleted since it was read, and another one be there with its key and its sources.
    const condition = `${isCurrent({ ...prepared.filling(next), mark: draft }, next)} and (${intact})`;
    const merger = new ValueMerger({ ...context, verdict });
    await phases.enter("merging");
    for (let vain = 0; vain < mostVain;) {
      const page = await rows.read(table, wanted);
      if (page.length === 0) break;
      const merging = { table, key, values: { columns: marked, rows: page }, condition };
      const { changed } = await merger.merge(merging).catch((error: unknown) => {
        if (signal?.aborted === true) throw prepared.interrupted();
        // Tried again, the action would begin with the first page.
        if (verdict(error).kind === "conflict") throw new FillFailed(outrun);
        throw error;
      });
      // The number is lost with the answer of a service.
      vain = changed > 0 ? 0 : vain + 1;
    }
    prepared.commits += merger.commits;
    // No index covers the merged rows.
    await prepared.optimize();
  }
}

const outrun =
  "writes of others came first each time when marks of the old values were merged; pause these writers, or optimize the table, and run the same command again";

/** An SQL predicate for the rows whose old value is intact. */
function whereIntact(action: PrepareColumnAction, old: string, columns: readonly Column[]): string {
  const kept = keptMark(old);
  return isIntact(action, old, has(columns, kept) ? action.marked : undefined, kept);
}

/** SQL for the mark of such a row. */
function ownMark(action: PrepareColumnAction, old: string, columns: readonly Column[]): string {
  const print = printSql(old, requireColumn(action.table, columns, [old]).type);
  return print === undefined ? markSql(action) : `concat(${markSql(action)}, '${valueMark}${printMark}', ${print})`;
}
