import { isCut, remarksOnLosses } from "./losses.ts";
import type { Rule } from "./rule.ts";

/** Tables, columns, rows and values that go. */
export const losesData = {
  id: "loses-data",
  severity: "warning",
  check: (action, surroundings) => remarksOnLosses(action, surroundings, (risk) => !isCut(risk)),
} as const satisfies Rule;
