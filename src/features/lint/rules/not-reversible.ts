import type { Rule } from "./rule.ts";

/** Reports actions that this target can't roll back, so that `down` will refuse. */
export const notReversible = {
  id: "not-reversible",
  severity: "warning",
  finds: "the target cannot roll the step back",
  // A created table that can't be rolled back stays, which loses nothing.
  check: ({ action, rollback, text }, { migration: { accepts = [] } }) =>
    rollback?.class !== "none" || action.kind === "createTable" || accepts.includes("irreversible")
      ? []
      : [
          {
            message: `down can't undo this: ${rollback.reason ?? text}; write export const down = [ … ] if steps of yours can, or export const accepts = ["irreversible"]`,
          },
        ],
} as const satisfies Rule;
