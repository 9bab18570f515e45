import { isCut, remarksOnLosses } from "./losses.ts";
import type { Rule } from "./rule.ts";

/** Reports the loss of tables, columns, rows and values. */
export const losesData = {
  id: "loses-data",
  severity: "warning",
  check: (action, surroundings) => remarksOnLosses(action, surroundings, (risk) => !isCut(risk)),
} as const satisfies Rule;
