/** Marks the actions of a plan whose code is not there, or can't be loaded. */
import type { Plan, PlannedAction } from "../../../plan/make-plan.ts";
import type { RunContext } from "../../../run/run-context.ts";
import { costs } from "../../../run/prepare/estimate.ts";
import { codeProblem, codesOf } from "../../shared/code-problem.ts";

/** Each problem refuses the first action that has it, if that is known to have rows to compute. */
export async function withMissingCode(plan: Plan, context: RunContext): Promise<Plan> {
  const { folder = process.cwd(), runsCode = true } = context;
  const found = new Map<PlannedAction, string>();
  for (const action of runsCode ? plan.migrations.flatMap((one) => one.actions) : []) {
    for (const code of codesOf(action)) {
      const problem = (await codeProblem(code, folder))?.text;
      if (problem !== undefined && ![...found.values()].includes(problem)) found.set(action, problem);
    }
  }
  if (found.size === 0) return plan;
  const known = await costs(plan, context);
  const migrations = plan.migrations.map((one) => ({
    ...one,
    actions: one.actions.map((action) => {
      const problem = found.get(action);
      const { rows = null } = known.get(action)?.cost.computed ?? {};
      if (problem === undefined || action.refusal !== undefined || rows === null || rows === 0) return action;
      return { ...action, refusal: { reason: "failure" as const, problem } };
    }),
  }));
  return { ...plan, migrations };
}
