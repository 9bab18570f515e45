import { missingCall } from "../../../plan/compile/compile.ts";
import type { PlannedAction } from "../../../plan/make-plan.ts";
import type { OtherTarget, Rule } from "./rule.ts";

/** Reports actions that another configured target can't execute, so that the migration can't run there. */
export const notEverywhere = {
  id: "not-everywhere",
  severity: "warning",
  check: (action, { others }) => problemsElsewhere(action, others).map((message) => ({ message })),
} as const satisfies Rule;

/** One sentence for each reason, with the targets that it applies to. */
export function problemsElsewhere(
  { action, before }: Pick<PlannedAction, "action" | "before">,
  others: readonly OtherTarget[],
): readonly string[] {
  const named = new Map<string, string[]>();
  for (const { name, capabilities } of others) {
    const reason =
      missingCall(action, capabilities.actions) ?? capabilities.refuses?.(action, before.get(action.table));
    if (reason !== undefined) named.set(reason, [...(named.get(reason) ?? []), name]);
  }
  return [...named].map(
    ([reason, names]) => `target${names.length === 1 ? "" : "s"} ${names.join(", ")} can't do this: ${reason}`,
  );
}
