/** The row of all actions of the migration files, in the order in which they ran or would run. Pure. */
import { isMigrateError, type MigrateError } from "../errors.ts";
import type { LedgerState } from "../ledger/fold.ts";
import type { Migration } from "../migrations/load.ts";
import { tablesAfter, tablesOfAction } from "../schema/action.ts";
import { change, type Table, type Tables } from "../schema/table.ts";
import { compileMigration, type Describing, type PlacedAction } from "./compile.ts";
import { inOrder } from "./plan.ts";

/** A migration's actions in the row of all. */
export interface RowAction extends PlacedAction {
  readonly migration: Migration;
  /** Which one of the migration it is, counted from 1. */
  readonly number: number;
  readonly total: number;
  /** The tables that it changes, after it. */
  readonly after: Tables;
}

export interface HistoryRow {
  readonly actions: readonly RowAction[];
  /** Why the row ends before the last migration. */
  readonly problem: MigrateError | undefined;
}

/** All actions in the order in which the ledger says that they ran, and then in that of the files. */
export function historyRow(migrations: readonly Migration[], state: LedgerState, describing: Describing): HistoryRow {
  const ran = inOrder(migrations, state);
  return possibleRow([...ran, ...without(ran, migrations)], migrations, describing);
}

/** The same, where what the ledger says no more that it ran may have run between what it says still. */
export function restoredRow(migrations: readonly Migration[], state: LedgerState, describing: Describing): HistoryRow {
  return possibleRow(withLostBetween(inOrder(migrations, state), migrations), migrations, describing);
}

/** Each of the others comes before the first with a higher number. */
function withLostBetween(ran: readonly Migration[], migrations: readonly Migration[]): readonly Migration[] {
  const others = without(ran, migrations);
  let next = 0;
  const between = ran.flatMap((migration) => {
    const from = next;
    while (next < others.length && others[next]!.version < migration.version) next++;
    return [...others.slice(from, next), migration];
  });
  return [...between, ...others.slice(next)];
}

function without(ran: readonly Migration[], migrations: readonly Migration[]): readonly Migration[] {
  const known = new Set(ran);
  return migrations.filter((migration) => !known.has(migration));
}

/** A ledger that was changed may say an order that can't be: then that of the files. */
function possibleRow(
  order: readonly Migration[],
  migrations: readonly Migration[],
  describing: Describing,
): HistoryRow {
  const row = rowOf(order, describing);
  return row.problem === undefined ? row : rowOf(migrations, describing);
}

function rowOf(migrations: readonly Migration[], describing: Describing): HistoryRow {
  const database = new Map<string, Table>();
  const actions: RowAction[] = [];
  for (const migration of migrations) {
    const compiled = compileMigration(migration, describing);
    for (const [index, { place, action }] of compiled.entries()) {
      try {
        const after = tablesAfter(database, action);
        change(database, after);
        actions.push({ place, action, migration, number: index + 1, total: compiled.length, after });
      } catch (error) {
        if (!isMigrateError(error)) throw error;
        return { actions, problem: error };
      }
    }
  }
  return { actions, problem: undefined };
}

/** Every table that an action of the row touches. */
export function tablesOf({ actions }: HistoryRow): readonly string[] {
  return [...new Set(actions.flatMap(({ action }) => tablesOfAction(action)))];
}

/** Those of which indexes are known at some place of the row. */
export function indexedIn({ actions }: HistoryRow): ReadonlySet<string> {
  const states = actions.flatMap(({ after }) => [...after]);
  return new Set(states.flatMap(([name, table]) => (table?.indexes === undefined ? [] : [name])));
}
