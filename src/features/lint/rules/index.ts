/** The registry of rules. Exporting a rule here adds it to `lint`, its comments and its configuration. */
export { breaksEmbeddingFunction } from "./breaks-embedding-function.ts";
export { fullRewrite } from "./full-rewrite.ts";
export { losesData, lossyCast } from "./losses.ts";
export { notEverywhere } from "./not-everywhere.ts";
export { notNullUnchecked } from "./not-null-unchecked.ts";
export { notReversible } from "./not-reversible.ts";
export { renamesDeclaredColumn } from "./renames-declared-column.ts";
export { renamesIndexedColumn } from "./renames-indexed-column.ts";
