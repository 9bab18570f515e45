import { remarksOnLosses } from "./losses.ts";
import type { Rule } from "./rule.ts";

/** Reports casts that may change values silently. */
export const lossyCast = {
  id: "lossy-cast",
  severity: "warning",
  check: (action, surroundings) => remarksOnLosses(action, surroundings, ({ changesValues }) => changesValues === true),
} as const satisfies Rule;
