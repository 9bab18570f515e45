/** Marks the actions of a plan whose code is not there. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { computedBy } from "../../actions/apply-action.ts";
import type { Plan, PlannedAction } from "../../plan/make-plan.ts";

/** `folder`: the one that paths of modules are relative to. Each module that is missing refuses the first action that needs it. */
export function withMissingCode(plan: Plan, folder: string): Plan {
  const known = new Set<string>();
  const missing = (action: PlannedAction): string | undefined => {
    const module = modulesOf(action).find((path) => !known.has(path) && !existsSync(resolve(folder, path)));
    if (module !== undefined) known.add(module);
    return module;
  };
  const migrations = plan.migrations.map((one) => ({
    ...one,
    actions: one.actions.map((action) => {
      const module = missing(action);
      if (module === undefined || action.refusal !== undefined) return action;
      return { ...action, refusal: { reason: "failure" as const, problem: `there is no file ${module}` } };
    }),
  }));
  return known.size === 0 ? plan : { ...plan, migrations };
}

function modulesOf({ commits }: PlannedAction): readonly string[] {
  return commits.flatMap(({ action }) => computedBy(action)?.how.with ?? []).filter((code) => typeof code === "string");
}
