import { exactObject, oneOf, optional, recordOf, type Shape } from "../../checks/check.ts";
import type { RuleId, RuleSettings } from "./findings.ts";

export interface LintSettings {
  /** In `rules`, the severity of each rule of `migrate lint`: `{ rules: { "full-rewrite": "off" } }`. */
  readonly lint?: { readonly rules?: RuleSettings };
}

const levels = ["off", "note", "warning", "error"] as const satisfies readonly NonNullable<RuleSettings[RuleId]>[];
const level = oneOf(levels, `must be one of ${levels.map((word) => `"${word}"`).join(", ")}`);

export const lintSettings: Shape<LintSettings> = {
  // The names of rules are not checked here: only `lint` loads the rules.
  lint: optional(exactObject({ rules: optional(recordOf(level, "must be an object of rules")) }, "must be an object")),
};
