/** Derives the expected database from the ledger and the migration files. Pure. */
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import type { Migration } from "../../migrations/load.ts";
import { checkReads } from "../../actions/apply-action.ts";
import { change, type Database, type Table, type Tables } from "../../schema/table.ts";
import { compileMigration, type Able, type Describing, type Direction } from "../compile/compile.ts";
import { replay, withPlace } from "../compile/replay.ts";
import { actionsRun, reversalOf } from "./migration-run.ts";

type RanMigrations = Pick<LedgerState, "migrations">;

/** The database after all actions that the ledger records as done, in the order in which they ran. */
export function replayHistory(migrations: readonly Migration[], state: RanMigrations, able: Able): Database {
  return replayEach(migrations, state, able, () => {});
}

/**
 * The same. Calls `visit` with the database before each migration that has run; that database changes later. With the
 * direction `down`, what a rollback undoes of a failed action is done too. `found`: the tables that such an action left
 * between its commits.
 */
export function replayEach(
  migrations: readonly Migration[],
  state: RanMigrations,
  able: Able,
  visit: (migration: Migration, before: Database) => void,
  direction: Direction = "up",
  found: Tables = new Map(),
): Database {
  const database = new Map<string, Table>();
  for (const migration of historyOrder(migrations, state)) {
    visit(migration, database);
    const known = state.migrations.get(migration.version)!;
    const { reversal } = known;
    const { step, stopped } = actionsRun(migration, known, database, able);
    const isBack = direction === "down" || reversal !== undefined;
    const ran = [...compileMigration(migration, able).slice(0, step), ...(isBack ? stopped : [])];
    // Derived before the migration is replayed: the rollback leads back to the database as it is here.
    const back = reversal === undefined ? [] : reversalOf(migration, known, database, able).actions;
    replay(database, ran);
    if (isBack && stopped.length > 0) change(database, found);
    replay(database, back.slice(0, reversal?.step));
  }
  return database;
}

/** The database after these migrations, whether or not the ledger records them. */
export function replayOn(
  base: Database,
  migrations: readonly Pick<Migration, "file" | "steps">[],
  describing: Describing,
): Map<string, Table> {
  const database = new Map(base);
  for (const migration of migrations) replayNext(database, migration, describing);
  return database;
}

/** Applies one more migration to the database itself, and gives the tables that it changes. */
export function replayNext(
  database: Map<string, Table>,
  migration: Pick<Migration, "file" | "steps">,
  describing: Describing,
): Tables {
  const changed = replay(database, compileMigration(migration, describing), ({ place, action }, _, after) => {
    withPlace(place, () => checkReads(database, action));
    return [...after];
  });
  return new Map(changed.flat());
}

/** The migrations that have run, at least in part, in the order in which they ran. */
export function historyOrder(migrations: readonly Migration[], state: RanMigrations): readonly Migration[] {
  const orderOf = ({ version }: Migration) => state.migrations.get(version)?.order;
  return migrations
    .filter((migration) => orderOf(migration) !== undefined)
    .toSorted((one, other) => orderOf(one)! - orderOf(other)!);
}

/** Those that have run, in the order in which they ran, and then the others. */
export function inRunOrder(migrations: readonly Migration[], state: RanMigrations): readonly Migration[] {
  const ran = new Set(historyOrder(migrations, state));
  return [...ran, ...migrations.filter((migration) => !ran.has(migration))];
}
