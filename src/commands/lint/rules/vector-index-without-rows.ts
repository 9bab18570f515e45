import { withoutVectors } from "../../../plan/compile/vector-index-check.ts";
import type { Rule } from "./rule.ts";

/** An index of vectors where no row can have one yet: it fails on every database that runs the whole migration at once. */
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
