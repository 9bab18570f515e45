/** Checks in advance whether the keys of rows that a plan computes identify these rows. */
import { count } from "../../../errors/migrate-error.ts";
import { computedIn, sourceNow } from "../../../plan/assess/rows-to-compute.ts";
import { keepsKeys } from "./rows-to-compute.ts";
import type { Plan, PlannedAction } from "../../../plan/make-plan.ts";
import type { Action } from "../../../actions/model/action.ts";
import { sqlPath } from "../../../schema/sql.ts";
import type { Target } from "../../../targets/contract/target.ts";
import { repeated } from "../compute/found-rows.ts";
import { findRowsToCompute } from "./count-rows.ts";
import { sourcesNow } from "../populate/count-sources.ts";
import { findRepeated } from "./find-repeated.ts";
import type { KeyCheck } from "../../../run/computed.ts";

/** What can't be queried is unknown. */
export async function checkKeys({ migrations, now }: Plan, target: Target): Promise<KeyCheck> {
  const problems = new Map<PlannedAction, string>();
  const usable = new Set<PlannedAction>();
  const before: Action[] = [];
  for (const planned of migrations.flatMap(({ actions }) => actions)) {
    const keyed = keyedBy(planned);
    const found = keyed && (await keyProblem(planned, keyed, before, now, target).catch(() => undefined));
    if (found?.problem !== undefined) problems.set(planned, found.problem);
    // A cast before it can make two keys the same.
    else if (found !== undefined && keepsKeys(keyed!, before, now)) usable.add(planned);
    before.push(planned.action);
  }
  return { problems, usable };
}

interface Keyed {
  readonly table: string;
  readonly key: string;
}

/** The table and the column by which code identifies rows; undefined if no code computes anything. */
function keyedBy({ action, commits }: PlannedAction): Keyed | undefined {
  if (action.kind === "populateTable") return { table: action.from, key: action.key };
  const values = computedIn(commits);
  return values && { table: action.table, key: values.how.key };
}

/** Undefined if it is unknown. */
async function keyProblem(
  { action, commits }: PlannedAction,
  { table, key }: Keyed,
  before: readonly Action[],
  now: Plan["now"],
  target: Target,
): Promise<{ readonly problem: string | undefined } | undefined> {
  const { rows, countRows } = target;
  if (rows === undefined || countRows === undefined) return undefined;
  const wanted =
    action.kind === "populateTable"
      ? sourcesNow(action, before, now)
      : await findRowsToCompute(commits, before, now, target);
  if (wanted === undefined) return undefined;
  const path = sourceNow({ table, path: [key] }, before, now);
  if (path === undefined) return undefined;
  const isNull = `${sqlPath(path)} is null`;
  const nulls = await countRows(wanted.table, wanted.where === undefined ? isNull : `(${wanted.where}) and ${isNull}`);
  const wayOut = "or leave these rows out with `where`";
  if (nulls > 0)
    return {
      problem: `${table}.${key} is null in ${count(nulls, "row")} that the step computes, so it can't identify them; give them values, ${wayOut}`,
    };
  const keys = { rows, ...wanted, key: sqlPath(path), total: await countRows(wanted.table) };
  const found = await findRepeated(keys);
  return { problem: found && `${repeated(table, key, found.key)}; give them different values, ${wayOut}` };
}
