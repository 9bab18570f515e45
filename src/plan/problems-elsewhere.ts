/** What other targets of the configuration can't execute. Pure. */
import type { Capabilities } from "../targets/contract/target.ts";
import { missingCall } from "./compile/compile.ts";
import type { PlannedAction } from "./make-plan.ts";

/** A configured target other than the chosen one. */
export interface OtherTarget {
  readonly name: string;
  readonly capabilities: Pick<Capabilities, "actions" | "refuses">;
}

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
