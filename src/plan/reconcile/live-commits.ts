/** Plans the commits of actions on the tables as found, with indexes and metadata that migrations do not know. Pure. */
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import type { PartialAction } from "../../ledger/state/record.ts";
import type { Action, ActionFor } from "../../actions/model/action.ts";
import { dependsOnFound, risksOf, tablesAfter, tablesOfAction } from "../../actions/apply-action.ts";
import { ownValue } from "../../schema/data-type.ts";
import { parsePath } from "../../schema/path.ts";
import { change, findColumn, type Table, type Tables } from "../../schema/table.ts";
import type { Capabilities } from "../../targets/contract/target.ts";
import { planCommits } from "../commits/commits.ts";
import { asSeen, withKept } from "../commits/preserved.ts";
import { withPlace } from "../compile/replay.ts";
import type { Plan, PlannedAction } from "../make-plan.ts";

/** A reconciled plan, with the commits that its actions take on the tables as they were found. */
export function planSeen(plan: Plan, snapshots: Tables, capabilities: Capabilities): Plan {
  const live = new Map<string, Table>();
  for (const [name, seen] of snapshots) {
    const table = plan.now.get(name);
    if (table !== undefined && seen !== undefined) live.set(name, asSeen(table, seen));
  }
  const seenAction = (
    planned: PlannedAction,
    { mayBeDone, midway, isBegun }: { mayBeDone: boolean; midway: PartialAction | undefined; isBegun: boolean },
  ): PlannedAction => {
    const { place, action, before } = planned;
    // The ledger knows more of an action that resumes in the middle than the tables show.
    if (midway !== undefined) change(live, withKept(new Map([[action.table, live.get(action.table)]]), action, midway));
    // Most plans for an empty database.
    if (![...before.keys()].some((name) => live.has(name))) {
      withPlace(place, () => checkRebuilt(action, before.get(action.table)));
      return planned;
    }
    const known = new Map([...before].map(([name, table]) => [name, live.get(name) ?? table]));
    if (!mayBeDone) withPlace(place, () => checkThere(action, live.get(action.table)));
    withPlace(place, () => checkRebuilt(action, known.get(action.table)));
    const replaced = isBegun ? undefined : foreignReplaced(action, before.get(action.table), live.get(action.table));
    carryOn(live, action);
    if (midway !== undefined) return planned;
    if (!dependsOnFound(action)) return replaced === undefined ? planned : { ...planned, replaced };
    const risks = risksOf(action, known.get(action.table), (kind) => capabilities.actions[kind] === true);
    return { ...planned, risks, commits: withPlace(place, () => planCommits(action, known, capabilities)) };
  };
  const migrations = plan.migrations.map((migration) => {
    const { inDoubt, midway, done } = migration;
    // What a migration that has begun finds may be its own.
    const isBegun = inDoubt || done > 0;
    const actions = migration.actions.map((action, index) =>
      seenAction(action, {
        mayBeDone: inDoubt && index === 0,
        midway: index === 0 ? midway : undefined,
        isBegun,
      }),
    );
    return { ...migration, actions };
  });
  return { ...plan, migrations };
}

/** Refuses to drop an index that does not exist. `table`: has all indexes of the table, if they are known. */
function checkThere(action: Action, table: Table | undefined): void {
  if (action.kind === "dropIndex" && table?.indexes !== undefined) requireIndex(action, table.indexes);
}

/**
 * Why the action may not replace an index or metadata that something other than a migration has given the table: a
 * rollback would remove it. Undefined if it replaces nothing, or the step states that it does. `known`: the table as
 * migrations know it.
 */
function foreignReplaced(action: Action, known: Table | undefined, table: Table | undefined): string | undefined {
  if (known === undefined || table === undefined) return undefined;
  if (action.kind === "setMetadata") return replacedMetadata(action, known, table);
  const name = indexOf(action);
  const there = name === undefined ? undefined : (ownValue(table.indexes, name) ?? undefined);
  if (there === undefined || ownValue(known.indexes, name!) != null) return undefined;
  const way = action.kind === "createIndex" ? "pass { replace: true } to replace it" : "give another `indexName`";
  return `index ${name!} of ${action.table} already exists, on ${there.path}, and no migration created it, so a rollback would drop it; ${way}, or drop the existing one in an earlier step; if the ledger was lost and this migration created it, run migrate baseline`;
}

/** The index that an action creates, if there must be none of that name. */
function indexOf(action: Action): string | undefined {
  if (action.kind === "createIndex") return action.replace === true ? undefined : action.name;
  return action.kind === "prepareColumn" ? action.index?.name : undefined;
}

function replacedMetadata(
  { table: name, updates, replace }: ActionFor<"setMetadata">,
  known: Table,
  table: Table,
): string | undefined {
  for (const { path, metadata } of replace === true ? [] : updates) {
    const [own, there] = [known, table].map(({ columns }) => findColumn(columns, parsePath(path))?.metadata ?? {});
    const key = Object.keys(metadata).find(
      (one) => !Object.hasOwn(own!, one) && (ownValue(there!, one) ?? null) !== null,
    );
    if (key !== undefined)
      return `${name}.${path} already has ${key} = ${JSON.stringify(there![key])}, which no migration has set, so a rollback would remove it; pass { replace: true } to replace it, or leave the key out`;
  }
  return undefined;
}

/** Refuses to rebuild an index whose parameters are unknown, which is one that does not exist. */
function checkRebuilt(action: Action, table: Table | undefined): void {
  if (action.kind === "rebuildIndex") requireIndex(action, table?.indexes ?? {});
}

function requireIndex(action: ActionFor<"dropIndex" | "rebuildIndex">, indexes: NonNullable<Table["indexes"]>): void {
  const there = Object.keys(indexes).filter((name) => indexes[name] !== null);
  if (there.includes(action.name)) return;
  const problem = `is not there; ${there.length === 0 ? "there are none" : `there is ${there.join(", ")}`}`;
  throw new MigrateError("ERR_INDEX", { table: action.table, name: action.name, problem });
}

/**
 * Updates `live` to the state after an action. If the action fails on what others have done to a table, the table is
 * removed, and from there on only what migrations know of it counts.
 */
export function carryOn(live: Map<string, Table>, action: Action): void {
  const own = tablesOfAction(action).filter((name) => live.has(name));
  if (own.length === 0) return;
  try {
    change(live, tablesAfter(live, action));
  } catch (error) {
    if (!isMigrateError(error)) throw error;
    for (const name of own) live.delete(name);
  }
}
