import { elsewhere } from "./other-targets.ts";
import type { Rule } from "./rule.ts";

/** Reports actions that another configured target can't execute, so that the migration can't run there. */
export const notEverywhere = {
  id: "not-everywhere",
  severity: "warning",
  check: (action, { others }) => elsewhere(action, others).map((message) => ({ message })),
} as const satisfies Rule;
