import type { Rule } from "./rule.ts";

/** What this target can't take back, so that `down` will refuse it. */
export const notReversible = {
  id: "not-reversible",
  severity: "warning",
  // A table that stays behind is no loss.
  check: ({ action, rollback, text }, { migration: { accepts = [] } }) =>
    rollback?.class !== "none" || action.kind === "createTable" || accepts.includes("irreversible")
      ? []
      : [
          {
            message: `down can't take this back: ${rollback.reason ?? text}; write export const down = [ … ] if steps of yours can, or export const accepts = ["irreversible"]`,
          },
        ],
} as const satisfies Rule;
