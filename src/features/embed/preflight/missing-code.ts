/** Marks the actions of a plan whose code is not there. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { codeIn } from "../../../actions/apply-action.ts";
import type { Plan, PlannedAction } from "../../../plan/make-plan.ts";
import type { RunContext } from "../../../run/run-context.ts";
import { costs } from "../../../run/prepare/estimate.ts";

/** Each module that is missing refuses the first action that needs it, if that is known to have rows to compute. */
export async function withMissingCode(plan: Plan, context: RunContext): Promise<Plan> {
  const { folder = process.cwd(), runsCode = true } = context;
  const actions = plan.migrations.flatMap((one) => one.actions);
  const missing = new Map<PlannedAction, string>();
  for (const action of runsCode ? actions : []) {
    const isNew = (path: string) => ![...missing.values()].includes(path);
    const module = modulesOf(action).find((path) => isNew(path) && !existsSync(resolve(folder, path)));
    if (module !== undefined) missing.set(action, module);
  }
  if (missing.size === 0) return plan;
  const known = await costs(plan, context);
  const migrations = plan.migrations.map((one) => ({
    ...one,
    actions: one.actions.map((action) => {
      const module = missing.get(action);
      const { rows = null } = known.get(action)?.cost.computed ?? {};
      if (module === undefined || action.refusal !== undefined || rows === null || rows === 0) return action;
      return { ...action, refusal: { reason: "failure" as const, problem: `there is no file ${module}` } };
    }),
  }));
  return { ...plan, migrations };
}

function modulesOf({ action, commits }: PlannedAction): readonly string[] {
  const codes = commits.flatMap((commit) => codeIn(commit.action)?.with ?? []);
  const queries = action.kind === "prepareColumn" && action.evaluate !== undefined ? [action.evaluate.file] : [];
  return [...codes.filter((code) => typeof code === "string"), ...queries];
}
