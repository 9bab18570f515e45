/**
 * Tables whose merges the engine keeps in a log beside them (`setLsmWriteSpec`). No call but a search sees the rows there,
 * and none can be read any more once the table has another column (docs/internals/engine.md).
 */
import type { ActionKind } from "../../actions/model/action.ts";
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
  const actions = migrations.flatMap((one) => one.actions.map(({ action }) => action));
  const tables = new Set(actions.filter(({ kind }) => !harmless.has(kind)).map(({ table }) => table));
  const logged = new Set<string>();
  for (const table of tables) if (now.has(table) && (await keepsLog(table))) logged.add(table);
  if (logged.size === 0) return undefined;
  return ({ action: { kind, table } }) =>
    logged.has(table) && !harmless.has(kind)
      ? `the engine keeps rows of ${table} in a log beside the table (setLsmWriteSpec), which this step would leave unchanged or make unreadable; move them into the table first (docs/steps.md, "Logs of writes")`
      : undefined;
}
