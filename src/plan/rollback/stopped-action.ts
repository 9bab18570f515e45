/** An action that stopped between its commits, of a migration that is rolled back from there. Pure. */
import type { LedgerMigration } from "../../ledger/state/fold-migration.ts";
import type { PartialAction } from "../../ledger/state/record.ts";
import type { Action } from "../../actions/model/action.ts";
import { tablesAfter } from "../../actions/apply-action.ts";
import { lineagesOf } from "../../actions/follow.ts";
import type { Migration } from "../../migrations/load.ts";
import { ownValue, type Column } from "../../schema/data-type.ts";
import { parsePath } from "../../schema/path.ts";
import { change, findColumn, replaceColumn, sameTable, type Database, type Table } from "../../schema/table.ts";
import { inTheMiddle } from "../commits/after-late-call.ts";
import { commitsOfBegun } from "../commits/commit-progress.ts";
import { statesBetween } from "../commits/commits.ts";
import type { Able, PlacedAction } from "../compile/compile.ts";
import { lostIn, waysBack } from "./restore-table.ts";
import { classify } from "./rollback-class.ts";

/**
 * Whether the rollback restores or drops the table of the action as a whole, so that it makes no difference which of its
 * commits are done. `actions`: all of the migration; `step`: how many are done. Only a version that was kept before the
 * migration is restored, and only if no call can take effect later.
 */
export function isUndoneAsWhole(
  { down }: Pick<Migration, "down">,
  { step, tables }: Pick<LedgerMigration, "step" | "tables">,
  actions: readonly PlacedAction[],
  before: Database,
  able: Able,
): boolean {
  if (down !== undefined || able.fences !== true) return false;
  const lineages = lineagesOf(actions.map(({ action }) => action));
  const lineage = lineages[step]!;
  const own = actions.slice(0, step + 1).filter((_, index) => lineages[index] === lineage);
  if (own.some(({ action }) => action.kind === "renameTable") || renames(own.at(-1)!.action)) return false;
  const ran = waysBack(actions.slice(0, step + 1), lineages, new Map(before));
  if (!lostIn(ran).has(lineage)) return false;
  const { origin } = lineage;
  if (origin === undefined) return own[0]!.action.kind === "createTable";
  return classify(actions, lineages, before, able)[step]!.restores === origin && tables[origin]?.[0] != null;
}

function renames(action: Action): boolean {
  return action.kind === "alterColumns" && action.alterations.some(({ rename }) => rename !== undefined);
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

/** `ran`: the actions of the migration that are done; `before`: the database before them. */
export function leftTable(
  { action }: PlacedAction,
  midway: PartialAction,
  ran: readonly PlacedAction[],
  before: Database,
  able: Able,
): LeftTable {
  const { table } = action;
  const database = new Map(before);
  for (const one of ran) change(database, tablesAfter(database, one.action));
  const expected = database.get(table)!;
  const { commits, after } = commitsOfBegun(action, new Map([[table, expected]]), midway, able);
  const states = statesBetween(commits).flatMap((tables) => {
    const state = tables.get(table);
    return state === undefined ? [] : [inTheMiddle(state, expected, action, after.get(table))];
  });
  return {
    table,
    as(found) {
      const state = states.find((one) => sameTable(one, found));
      return state && { ...state, columns: Object.entries(midway.metadata).reduce(withKeys(found), state.columns) };
    },
  };
}

/** Metadata that a rewrite has removed, or put back, was not changed by others. */
function withKeys({ columns: found }: Table) {
  return (columns: readonly Column[], [path, kept]: readonly [string, object]): readonly Column[] => {
    const at = parsePath(path);
    const there = findColumn(found, at);
    if (there === undefined) return columns;
    const keys = Object.keys(kept).map((key) => [key, ownValue(there.metadata, key) ?? null] as const);
    return replaceColumn(columns, at, (one) => ({
      ...one,
      metadata: { ...one.metadata, ...Object.fromEntries(keys) },
    }));
  };
}
