import type { ActionKind } from "../schema/action.ts";

/**
 * What the engine does on a stale handle too (docs/engine.md), or without one: a table that others have made and dropped since is
 * made again.
 */
export const unfenced: ReadonlySet<ActionKind> = new Set([
  "createTable",
  ...(["createIndex", "dropIndex", "dropTable", "setMetadata"] as const),
  ...(["deleteRows", "insertRows", "updateRows"] as const),
  ...(["putBackRows", "restoreTable"] as const),
]);
