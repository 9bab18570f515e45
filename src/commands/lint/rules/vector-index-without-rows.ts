import { withoutVectors } from "../../../plan/compile/vector-index-check.ts";
import type { Rule } from "./rule.ts";

/** Reports a vector index on a column without vectors yet: it fails wherever the whole migration runs at once. */
export const vectorIndexWithoutRows = {
  id: "vector-index-without-rows",
  severity: "error",
  check: ({ action }, { earlier }) => {
    if (action.kind !== "createIndex") return [];
    const before = earlier();
    const message = withoutVectors([...before.map((one) => one.action), action]).get(before.length);
    return message === undefined ? [] : [{ message, word: action.index.path }];
  },
} as const satisfies Rule;
