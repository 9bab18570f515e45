/** How many rows code of the project will compute for a plan. */
import type { Action } from "../../../actions/model/action.ts";
import { computedColumn, computedIn, type RowsToCompute } from "../../../plan/assess/rows-to-compute.ts";
import { rowsToCompute } from "./rows-to-compute.ts";
import type { PlannedAction } from "../../../plan/make-plan.ts";
import type { CountedTables } from "../../../run/run-context.ts";
import { formatType } from "../../../schema/data-type.ts";
import { formatPath } from "../../../schema/path.ts";
import type { Database } from "../../../schema/table.ts";
import type { Target } from "../../../targets/contract/target.ts";
import { fragmentsBefore, hasSucceeded } from "../compute/results.ts";
import { resultsOf } from "../compute/staging-name.ts";
import { countSources } from "../populate/count-sources.ts";

/** How many rows code will compute; null if that is unknown. */
export async function countRows(
  { action, commits }: PlannedAction,
  before: readonly Action[],
  { now, all, target }: CountedTables,
): Promise<number | null> {
  if (action.kind === "populateTable") return await countSources(action, before, now, target);
  if (all === 0) return 0;
  const wanted = await findRowsToCompute(commits, before, now, target);
  if (wanted === undefined) return null;
  const found = wanted.where === undefined ? all : await countIn(target, wanted.table, wanted.where);
  return found === undefined ? null : Math.max(0, found - (await countResults(commits, target)));
}

/** How many values were computed already for a column that is not there yet. */
async function countResults(commits: PlannedAction["commits"], target: Target): Promise<number> {
  const { rows } = target;
  const { table } = commits[0]!.action;
  const { column, how, mark } = computedIn(commits)!;
  const columns = await rows?.columns(table);
  if (rows === undefined || columns === undefined || columns.some(({ name }) => name === column)) return 0;
  const wanted = [{ name: column, type: computedColumn(commits)!.type }];
  let found = 0;
  for (const name of resultsOf(await target.listTables(), { table, path: formatPath([column]) }))
    if ((await fragmentsBefore(name, wanted, how, rows)) !== undefined)
      found += (await countIn(target, name, hasSucceeded(mark))) ?? 0;
  return found;
}

/** The rows that code will compute; undefined if they do not follow from the current tables. */
export async function findRowsToCompute(
  commits: PlannedAction["commits"],
  before: readonly Action[],
  now: Database,
  { rows }: Target,
): Promise<RowsToCompute | undefined> {
  const values = computedIn(commits);
  if (values === undefined) return undefined;
  // The plan does not show temporary columns that were added before it was made.
  const columns = (await rows?.columns(commits[0]!.action.table).catch(() => undefined)) ?? [];
  const isMarked = columns.some(({ name }) => name === values.mark);
  const begun = columns.find(({ name }) => name === values.column);
  // With another type, a prepared column is dropped.
  const isKept = begun !== undefined && formatType(begun.type) === formatType(computedColumn(commits)!.type);
  return rowsToCompute(commits, before, now, isMarked && isKept);
}

async function countIn({ countRows }: Target, table: string, predicate: string): Promise<number | undefined> {
  // What can't be queried is unknown: a column may have another name now, or a service may lack the query.
  return await countRows?.(table, predicate).catch(() => undefined);
}
