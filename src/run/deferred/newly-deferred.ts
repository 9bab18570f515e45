/** What a migration records about the indexes that it has deferred. */
import type { Action } from "../../actions/model/action.ts";
import { rewrites } from "../../actions/apply-action.ts";
import type { PlannedAction, PlannedMigration } from "../../plan/make-plan.ts";
import { isVectorIndex } from "../../schema/table-index.ts";
import { findColumn, type Table } from "../../schema/table.ts";
import type { Target } from "../../targets/contract/target.ts";
import { defersIndexes } from "../../targets/contract/as-migrations-see.ts";
import { deferralEntries } from "./find-deferred.ts";

/** The detail of the migration's last record; undefined if it deferred nothing. `ran`: its actions in earlier runs. */
export async function newlyDeferred(
  { actions }: PlannedMigration,
  ran: readonly Action[],
  target: Target,
): Promise<string | undefined> {
  if (!defersIndexes(target.capabilities)) return undefined;
  const described = new Map<string, Table | undefined>();
  for (const table of tablesDeferring(ran, actions))
    described.set(table, (await target.describeTable(table, true))?.table);
  return deferralEntries(described)[0]?.detail;
}

/** The tables on which actions may have deferred indexes, by their names after all actions. */
function tablesDeferring(ran: readonly Action[], actions: readonly PlannedAction[]): ReadonlySet<string> {
  const tables = new Set<string>();
  const follow = (action: Action, defers: boolean) => {
    if (defers) tables.add(action.table);
    if (action.kind === "renameTable" && tables.delete(action.table)) tables.add(action.name);
  };
  for (const action of ran) follow(action, trainsIndex(action) || rewrites(action).size > 0);
  for (const planned of actions) follow(planned.action, mayDefer(planned));
  return tables;
}

function mayDefer({ action, commits, after }: PlannedAction): boolean {
  return [action, ...commits.map((one) => one.action)].some(trainsIndex) || rewritesVectors(action, after);
}

function trainsIndex(action: Action): boolean {
  if (action.kind === "createIndex") return isVectorIndex(action.index);
  // An old version may have a deferred index.
  return action.kind === "restoreTable" || (action.kind === "switchColumn" && action.index !== undefined);
}

/** Whether columns are rewritten that may hold vectors: the indexes of others on them are recreated too. */
function rewritesVectors(action: Action, after: PlannedAction["after"]): boolean {
  const columns = after.get(action.table)?.columns ?? [];
  return [...rewrites(action)].some((name) =>
    ["fixedSizeList", "list", "struct"].includes(findColumn(columns, [name])?.type.kind ?? ""),
  );
}
