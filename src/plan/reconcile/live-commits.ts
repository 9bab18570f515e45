/** Plans the commits of actions on the tables as found, with indexes and metadata that migrations do not know. Pure. */
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import type { PartialAction } from "../../ledger/state/record.ts";
import type { Action, ActionFor } from "../../actions/model/action.ts";
import { dependsOnFound, risksOf, tablesAfter, tablesOfAction } from "../../actions/apply-action.ts";
import { change, type Table, type Tables } from "../../schema/table.ts";
import type { Capabilities } from "../../targets/contract/target.ts";
import { planCommits } from "../commits/commits.ts";
import { asSeen, withKept } from "../commits/preserved.ts";
import { withPlace } from "../history/replay.ts";
import type { Plan, PlannedAction } from "../make-plan.ts";

/** A reconciled plan, with the commits that its actions take on the tables as they were found. */
export function planSeen(plan: Plan, snapshots: Tables, capabilities: Capabilities): Plan {
  const live = new Map<string, Table>();
  for (const [name, seen] of snapshots) {
    const table = plan.now.get(name);
    if (table !== undefined && seen !== undefined) live.set(name, asSeen(table, seen));
  }
  const seenAction = (planned: PlannedAction, mayBeDone: boolean, midway: PartialAction | undefined): PlannedAction => {
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
    carryOn(live, action);
    if (midway !== undefined || !dependsOnFound(action)) return planned;
    const risks = risksOf(action, known.get(action.table), (kind) => capabilities.actions[kind] === true);
    return { ...planned, risks, commits: withPlace(place, () => planCommits(action, known, capabilities)) };
  };
  const migrations = plan.migrations.map((migration) => {
    const { inDoubt, midway } = migration;
    const actions = migration.actions.map((action, index) =>
      seenAction(action, inDoubt && index === 0, index === 0 ? midway : undefined),
    );
    return { ...migration, actions };
  });
  return { ...plan, migrations };
}

/** Refuses to drop an index that does not exist. `table`: has all indexes of the table, if they are known. */
function checkThere(action: Action, table: Table | undefined): void {
  if (action.kind === "dropIndex" && table?.indexes !== undefined) requireIndex(action, table.indexes);
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
