/** An action that stopped between its commits, of a migration that is rolled back from there. Pure. */
import type { LedgerMigration } from "../../ledger/state/fold-migration.ts";
import type { PartialAction } from "../../ledger/state/record.ts";
import type { Action } from "../../actions/model/action.ts";
import { rewrites } from "../../actions/apply-action.ts";
import { lineagesOf } from "../../actions/follow.ts";
import type { Migration } from "../../migrations/load.ts";
import { ownValue } from "../../schema/data-type.ts";
import { parsePath } from "../../schema/path.ts";
import { findColumn, sameTable, type Database, type Table } from "../../schema/table.ts";
import { inTheMiddle } from "../commits/after-late-call.ts";
import { commitsOfBegun } from "../commits/commit-progress.ts";
import { statesBetween } from "../commits/commits.ts";
import type { Able, PlacedAction } from "../compile/compile.ts";
import { replay } from "../compile/replay.ts";
import { lostIn, inversesOf } from "./restore-table.ts";
import { classify } from "./rollback-class.ts";

/**
 * Whether the rollback restores or drops the table of the action as a whole, so that it makes no difference which of its
 * commits are done. `actions`: all of the migration; `step`: how many are done. Only a version that was kept before the
 * migration is restored, and only if no call can take effect later, and if others have given the columns that are
 * rewritten nothing that this version may lack.
 */
export function isUndoneAsWhole(
  { down }: Pick<Migration, "down">,
  { step, tables, midway }: Pick<LedgerMigration, "step" | "tables" | "midway">,
  actions: readonly PlacedAction[],
  before: Database,
  able: Able,
): boolean {
  if (down !== undefined || able.fences !== true) return false;
  const lineages = lineagesOf(actions.map(({ action }) => action));
  const lineage = lineages[step]!;
  const own = actions.slice(0, step + 1).filter((_, index) => lineages[index] === lineage);
  if (own.some(({ action }) => action.kind === "renameTable") || renames(own.at(-1)!.action)) return false;
  if (!areKnown(midway!, tableBefore(actions, step, before))) return false;
  const ran = inversesOf(actions.slice(0, step + 1), lineages, new Map(before));
  if (!lostIn(ran).has(lineage)) return false;
  const { origin } = lineage;
  if (origin === undefined) return own[0]!.action.kind === "createTable";
  return classify(actions, lineages, before, able)[step]!.restores === origin && tables[origin]?.[0] != null;
}

function renames(action: Action): boolean {
  return action.kind === "alterColumns" && action.alterations.some(({ rename }) => rename !== undefined);
}

/** The table of the action with that number before it, as migrations know it. */
function tableBefore(actions: readonly PlacedAction[], step: number, before: Database): Table {
  const database = new Map(before);
  replay(database, actions.slice(0, step));
  return database.get(actions[step]!.action.table)!;
}

/** Whether migrations have made all of these indexes and metadata. */
function areKnown({ indexes, metadata }: PartialAction, { columns, indexes: known = {} }: Table): boolean {
  const keys = Object.entries(metadata).flatMap(([path, values]) =>
    Object.keys(values).map((key) => [path, key] as const),
  );
  return (
    Object.keys(indexes).every((name) => ownValue(known, name) != null) &&
    keys.every(([path, key]) => ownValue(findColumn(columns, parsePath(path))?.metadata, key) != null)
  );
}

/** What a run finds of the table. */
export interface LeftTable {
  readonly table: string;
  /**
   * The table, as far as migrations and the action have made it, if it is as the action can have left it; undefined
   * otherwise. Without indexes and metadata that others have given it since.
   */
  readonly as: (found: Table) => Table | undefined;
}

/** `step`: the number of the action in the migration. `before`: the database before the migration. */
export function leftTable(
  actions: readonly PlacedAction[],
  step: number,
  midway: PartialAction,
  before: Database,
  able: Able,
): LeftTable {
  const { action } = actions[step]!;
  const { table } = action;
  const expected = tableBefore(actions, step, before);
  const { commits, after } = commitsOfBegun(action, new Map([[table, expected]]), midway, able);
  const states = [commits[0]!.before, ...statesBetween(commits)].flatMap((tables) => {
    const state = tables.get(table);
    // While a column has a hidden name, what others give it could not be found again.
    const isNamed = state && [...rewrites(action)].every((name) => findColumn(state.columns, [name]) !== undefined);
    return isNamed === true ? [inTheMiddle(state!, expected, action, after.get(table))] : [];
  });
  return { table, as: (found) => states.find((state) => sameTable(state, found)) };
}
