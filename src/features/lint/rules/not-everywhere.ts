import { problemsElsewhere } from "../../../plan/problems-elsewhere.ts";
import type { Rule } from "./rule.ts";

/** Reports actions that another configured target can't execute, so that the migration can't run there. */
export const notEverywhere = {
  id: "not-everywhere",
  severity: "warning",
  finds: "another target of the configuration does not support the step",
  check: (action, { others }) => problemsElsewhere(action, others).map((message) => ({ message })),
} as const satisfies Rule;
