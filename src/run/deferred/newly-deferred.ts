/** What a migration records about what waits after it: indexes that it has deferred, and columns that are watched. */
import type { Action } from "../../actions/model/action.ts";
import { rewrites } from "../../actions/apply-action.ts";
import type { PlannedAction, PlannedMigration } from "../../plan/make-plan.ts";
import { waitsForValues } from "../../schema/table-index.ts";
import { findColumn, type Table } from "../../schema/table.ts";
import type { Target } from "../../targets/contract/target.ts";
import { defersIndexes } from "../../targets/contract/hidden-columns.ts";
import { deferralEntries } from "./find-deferred.ts";

/**
 * The detail of the migration's last record; undefined if nothing waits. The migration is done, so an error must
 * not keep it from being recorded: the indexes of a table that can't be described are named too. The next `up` looks.
 */
export async function newlyDeferred(planned: PlannedMigration, target: Target): Promise<string | undefined> {
  const described = new Map<string, Table | undefined>();
  for (const table of tablesDeferring(planned, defersIndexes(target.capabilities))) {
    const seen = await target.describeTable(table, true).catch(() => ({ table: allDeferred(table, planned) }));
    described.set(table, seen?.table);
  }
  return deferralEntries(described)[0]?.detail;
}

/** The table as if all of its indexes that can be were deferred. */
function allDeferred(name: string, { actions }: PlannedMigration): Table {
  const planned = actions.findLast(({ after }) => after.has(name))?.after.get(name);
  const indexes = Object.entries(planned?.indexes ?? {}).filter(([, index]) => index !== null && waitsForValues(index));
  // An earlier run has done all actions on it.
  const names = planned === undefined ? ["an index"] : indexes.map(([index]) => index);
  return { columns: [], deferred: names };
}

/** The tables in which something may wait after the actions, by their names then. `defers`: whether indexes may. */
function tablesDeferring({ ran, actions }: PlannedMigration, defers: boolean): ReadonlySet<string> {
  const tables = new Set<string>();
  const follow = (action: Action, mayWait: boolean) => {
    if ((mayWait && defers) || action.kind === "catchUpColumn") tables.add(action.table);
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
  if (action.kind === "createIndex") return waitsForValues(action.index);
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
