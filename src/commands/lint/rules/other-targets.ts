/** Finds out what targets other than the chosen one can't do. Pure. */
import { whyUnable, type Abilities } from "../../../plan/compile/capability-check.ts";
import type { PlannedAction } from "../../../plan/make-plan.ts";

export interface OtherTarget {
  readonly name: string;
  readonly capabilities: Abilities;
}

/** One sentence for each reason, with the targets that it applies to. */
export function elsewhere(
  { action, before }: Pick<PlannedAction, "action" | "before">,
  others: readonly OtherTarget[],
): readonly string[] {
  const named = new Map<string, string[]>();
  for (const { name, capabilities } of others) {
    const reason = whyUnable(action, before.get(action.table), capabilities);
    if (reason !== undefined) named.set(reason, [...(named.get(reason) ?? []), name]);
  }
  return [...named].map(
    ([reason, names]) => `target${names.length === 1 ? "" : "s"} ${names.join(", ")} can't do this: ${reason}`,
  );
}
