/** Finds the actions of a plan whose key can't identify the rows that they compute. */
import { firstPageRows } from "../../actions/model/computation.ts";
import { count } from "../../errors/migrate-error.ts";
import { computedIn, sourceNow } from "../../plan/assess/rows-to-compute.ts";
import type { Plan, PlannedAction } from "../../plan/make-plan.ts";
import type { Action } from "../../actions/model/action.ts";
import { sqlPath } from "../../schema/sql.ts";
import type { Target } from "../../targets/contract/target.ts";
import { FillFailed } from "../fill/fill-failed.ts";
import { requireUnique } from "../fill/found-rows.ts";
import { findRowsToCompute } from "./estimate.ts";

/**
 * Counts all nulls, and looks for a repeated key in as many rows as a run computes first: a run refuses keys that are
 * repeated within the rows that it computes together. What can't be queried is unknown.
 */
export async function unusableKeys({ migrations, now }: Plan, target: Target): Promise<Map<PlannedAction, string>> {
  const problems = new Map<PlannedAction, string>();
  const before: Action[] = [];
  for (const planned of migrations.flatMap(({ actions }) => actions)) {
    const problem = await keyProblem(planned, before, now, target).catch(() => undefined);
    if (problem !== undefined) problems.set(planned, problem);
    before.push(planned.action);
  }
  return problems;
}

async function keyProblem(
  { action: { table }, commits }: PlannedAction,
  before: readonly Action[],
  now: Plan["now"],
  target: Target,
): Promise<string | undefined> {
  const values = computedIn(commits);
  if (values === undefined || target.rows === undefined) return undefined;
  const wanted = await findRowsToCompute(commits, before, now, target);
  if (wanted === undefined) return undefined;
  const { key } = values.how;
  const path = sourceNow({ table, path: [key] }, before, now);
  if (path === undefined) return undefined;
  const isNull = `${sqlPath(path)} is null`;
  const where = wanted.where === undefined ? isNull : `(${wanted.where}) and ${isNull}`;
  const nulls = (await target.count?.(wanted.table, where)) ?? 0;
  const wayOut = "or leave these rows out with `where`";
  if (nulls > 0)
    return `${table}.${key} is null in ${count(nulls, "row")} that it computes, and identifies rows; give them values, ${wayOut}`;
  const select = [[key, sqlPath(path)]] as const;
  const first = await target.rows.read(wanted.table, { select, where: wanted.where, limit: firstPageRows });
  try {
    requireUnique(first, { table, key });
  } catch (error) {
    if (error instanceof FillFailed) return `${error.message}; give them different values, ${wayOut}`;
    throw error;
  }
  return undefined;
}
