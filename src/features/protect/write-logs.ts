/**
 * Tables whose merges the engine keeps in a log beside them (`setLsmWriteSpec`). No call but a search sees the rows there,
 * and none can be read any more once the table has another column (docs/internals/engine.md).
 */
import type { Action, ActionKind } from "../../actions/model/action.ts";
import type { Plan } from "../../plan/make-plan.ts";
import type { Target } from "../../targets/contract/target.ts";
import type { Judge } from "./judge.ts";

/** After these, the rows of the log can be read as before. */
const harmless: ReadonlySet<ActionKind> = new Set([
  "checkRecall",
  "createIndex",
  "dropColumns",
  "dropIndex",
  "dropTable",
  "optimizeTable",
  "rebuildIndex",
  "setMetadata",
]);

/** Undefined if the plan harms no such table. */
export async function tablesWithLogs(
  { migrations, now }: Plan,
  { keepsLog }: Pick<Target, "keepsLog">,
): Promise<Judge | undefined> {
  if (keepsLog === undefined) return undefined;
  const known = new Map<string, boolean>();
  const refused = new Set<Action>();
  const dropped = new Set<string>();
  for (const action of migrations.flatMap((one) => one.actions.map((planned) => planned.action))) {
    const { kind, table } = action;
    // A table that is created again has no log.
    if (kind === "dropTable") dropped.add(table);
    if (harmless.has(kind) || dropped.has(table) || !now.has(table)) continue;
    known.set(table, known.get(table) ?? (await keepsLog(table)));
    if (known.get(table) === true) refused.add(action);
  }
  if (refused.size === 0) return undefined;
  return ({ action }) =>
    refused.has(action)
      ? `the engine keeps rows of ${action.table} in a log beside the table (setLsmWriteSpec), which this step would leave unchanged or make unreadable; move them into the table first (docs/steps.md, "Logs of writes")`
      : undefined;
}
