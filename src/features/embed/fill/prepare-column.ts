/**
 * Prepares a column: computes its new values, loads them into a hidden column and indexes them there; and ends that, when
 * the hidden column has taken its place. The tables themselves show how far this got, so anyone may continue it at any time.
 */
import type { CatchUpColumnAction, PrepareColumnAction } from "../../../actions/model/action.ts";
import type { Filled } from "../compute/fill-context.ts";
import { keptMark, modelMetadata } from "../../../actions/rewrite/prepared-columns.ts";
import { indexPrepared } from "./index-prepared.ts";
import { addIntactMarks } from "./intact-marks.ts";
import { has, PreparedTable, type PrepareContext } from "./prepared-table.ts";

/** What has happened, and how many versions of the table it made. */
export interface PreparationResult {
  readonly problem: Filled["problem"];
  readonly commits: number;
}

export async function prepareColumn(action: PrepareColumnAction, context: PrepareContext): Promise<PreparationResult> {
  const table = new PreparedTable(action, context);
  const ahead = action.into === undefined ? await table.computeAhead(action.type) : undefined;
  // The run that computes all rows loads what shards have computed.
  if (ahead !== undefined && !context.isWhole) return { problem: ahead.problem, commits: table.commits };
  await (action.into === undefined ? table.addColumns(action.type) : addIntactMarks(table, action, context));
  // An old column that a rollback prepares is named as applications know it.
  if (action.into === undefined && context.target.capabilities.actions.setMetadata === true)
    await table.note(table.next, modelMetadata(action));
  const failure = ahead?.problem?.text;
  const phase = ahead === undefined ? "computing" : "catching up";
  const {
    problem,
    merges,
    loads = 0,
    isLoaded = false,
  } = await context.fill(table.filling(table.next), await table.columns(), { failure, phase });
  // Otherwise only the few rows were merged that applications have written meanwhile.
  if (merges > 0 && !isLoaded) await table.optimize();
  // A column that migrations see has its own indexes.
  if (context.isWhole && action.into === undefined) await indexPrepared(table, action, context);
  return { problem, commits: table.commits + merges + loads };
}

/**
 * Computes the rows of a column in use that are stale. Its marks stay until the old column is dropped, under a name of
 * that column, so that a later run finds what applications have written with the other model meanwhile. After a rollback,
 * they stay as long as the column itself, or until the migration is applied again.
 */
export async function catchUpColumn(action: CatchUpColumnAction, context: PrepareContext): Promise<PreparationResult> {
  const table = new PreparedTable(action, context);
  const columns = await table.columns();
  const kept = keptMark(action.keep);
  const mark = [...(action.isLater === true ? [] : [table.mark]), kept].find((name) => has(columns, name));
  // An earlier run of an older release has dropped the marks when everything was computed.
  if (mark === undefined) return { problem: undefined, commits: 0 };
  const isNew = mark !== kept;
  const { problem, merges } = await context.fill(table.filling(table.column, mark), columns, {
    inUse: true,
    isNew,
    phase: "catching up",
  });
  if (isNew) await table.keepMarks(action.keep);
  if (action.marked !== undefined) await table.removeOutdated(action.keep, action.marked);
  return { problem, commits: table.commits + merges };
}
