import { remarksOnLosses } from "./losses.ts";
import type { Rule } from "./rule.ts";

/** Reports the loss of tables, columns, rows and values. */
export const losesData = {
  id: "loses-data",
  severity: "warning",
  check: (action, surroundings) => remarksOnLosses(action, surroundings, (risk) => risk.changesValues !== true),
} as const satisfies Rule;
