import { elsewhere } from "./other-targets.ts";
import type { Rule } from "./rule.ts";

/** What another target of the configuration can't do, so that its databases could not run the migration. */
export const notEverywhere = {
  id: "not-everywhere",
  severity: "warning",
  check: (action, { others }) => elsewhere(action, others).map((message) => ({ message })),
} as const satisfies Rule;
