import type { Rule } from "./rule.ts";

/** Reports changes of a column that LanceDB's clients look up by name when they add rows. */
export const breaksEmbeddingFunction = {
  id: "breaks-embedding-function",
  severity: "warning",
  finds: "a column to which an embedding function of the table refers is renamed or dropped",
  check: ({ risks }) => risks.flatMap(({ kind, text }) => (kind === "embedding" ? [{ message: text }] : [])),
} as const satisfies Rule;
