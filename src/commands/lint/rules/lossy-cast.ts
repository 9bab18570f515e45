import { isCut, remarksOnLosses } from "./losses.ts";
import type { Rule } from "./rule.ts";

/** Values that become others without a word. */
export const lossyCast = {
  id: "lossy-cast",
  severity: "warning",
  check: (action, surroundings) => remarksOnLosses(action, surroundings, isCut),
} as const satisfies Rule;
