/** Refuses actions that would break what the engine keeps beside a table. */
import type { Direction } from "../../plan/compile/compile.ts";
import type { Plan, PlannedAction } from "../../plan/make-plan.ts";
import type { Target } from "../../targets/contract/target.ts";
import { viewsAtRisk } from "./broken-views.ts";
import { tablesWithClones } from "./read-by-clones.ts";
import { tablesWithLogs } from "./write-logs.ts";

export async function withProtectedTables(
  plan: Plan,
  _: Direction,
  { target }: { readonly target: Target },
): Promise<Plan> {
  const checks = [tablesWithLogs, tablesWithClones, viewsAtRisk];
  const judges = (await Promise.all(checks.map((check) => check(plan, target)))).filter((one) => one !== undefined);
  if (judges.length === 0) return plan;
  const judged = (action: PlannedAction): PlannedAction => {
    const problem = judges.map((judge) => judge(action)).find((one) => one !== undefined);
    return problem === undefined ? action : { ...action, refusal: { reason: "failure", problem } };
  };
  return { ...plan, migrations: plan.migrations.map((one) => ({ ...one, actions: one.actions.map(judged) })) };
}
