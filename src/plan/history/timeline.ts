/** The row of all actions of the migration files, in the order in which they ran or would run. Pure. */
import { isMigrateError, type MigrateError } from "../../errors/migrate-error.ts";
import type { LedgerState } from "../../ledger/state/fold.ts";
import type { PartialAction } from "../../ledger/state/record.ts";
import type { Migration } from "../../migrations/load.ts";
import type { Action } from "../../actions/model/action.ts";
import { tablesAfter, tablesOfAction } from "../../actions/apply-action.ts";
import { change, type Database, type Table, type Tables } from "../../schema/table.ts";
import type { Capabilities } from "../../targets/contract/target.ts";
import { statesBetween } from "../commits/commits.ts";
import { compileMigration, type PlacedAction } from "../compile/compile.ts";
import { inOrder } from "./replay.ts";
import { commitsOfBegun } from "../commits/commit-progress.ts";

type Abilities = Pick<Capabilities, "actions" | "describes">;

/** A migration's actions in the row of all. */
export interface RowAction extends PlacedAction {
  readonly migration: Migration;
  /** Which one of the migration it is, counted from 1. */
  readonly number: number;
  readonly total: number;
  /** The tables that it changes, after it. */
  readonly after: Tables;
  /** What the ledger knows of one that was begun, where that takes several commits. */
  readonly begun?: Begun | undefined;
}

/** An action in the middle of which somebody was stopped. */
interface Begun {
  /** Its tables as they may be between its commits. */
  readonly between: readonly Tables[];
  /** And when it is done, with what has to be put back. */
  readonly after: Tables;
}

export interface HistoryRow {
  readonly actions: readonly RowAction[];
  /** Why the row ends before the last migration. */
  readonly problem: MigrateError | undefined;
}

/** All actions in the order in which the ledger says that they ran, and then in that of the files. */
export function historyRow(migrations: readonly Migration[], state: LedgerState, describing: Abilities): HistoryRow {
  const ran = inOrder(migrations, state);
  return possibleRow([...ran, ...without(ran, migrations)], migrations, state, describing);
}

/** The same, where what the ledger says no more that it ran may have run between what it says still. */
export function restoredRow(migrations: readonly Migration[], state: LedgerState, describing: Abilities): HistoryRow {
  return possibleRow(withLostBetween(inOrder(migrations, state), migrations), migrations, state, describing);
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
  state: LedgerState,
  describing: Abilities,
): HistoryRow {
  const row = rowOf(order, state, describing);
  return row.problem === undefined ? row : rowOf(migrations, state, describing);
}

function rowOf(migrations: readonly Migration[], state: LedgerState, describing: Abilities): HistoryRow {
  const database = new Map<string, Table>();
  const actions: RowAction[] = [];
  for (const migration of migrations) {
    const compiled = compileMigration(migration, describing);
    for (const [index, { place, action }] of compiled.entries()) {
      try {
        const number = index + 1;
        const begun = begunAs(action, database, midwayOf(state, migration, number), describing);
        const after = tablesAfter(database, action);
        change(database, after);
        actions.push({ place, action, migration, number, total: compiled.length, after, begun });
      } catch (error) {
        if (!isMigrateError(error)) throw error;
        return { actions, problem: error };
      }
    }
  }
  return { actions, problem: undefined };
}

/** What the ledger keeps of the action of that number, which was begun. */
export function midwayOf(
  { migrations }: LedgerState,
  { version }: Migration,
  number: number,
): PartialAction | undefined {
  const known = migrations.get(version);
  return known?.step === number - 1 ? known.midway : undefined;
}

function begunAs(
  action: Action,
  database: Database,
  midway: PartialAction | undefined,
  { actions }: Abilities,
): Begun | undefined {
  if (midway === undefined) return undefined;
  const before = new Map([[action.table, database.get(action.table)]]);
  const { commits, after } = commitsOfBegun(action, before, midway, { actions, describes: true });
  return { between: statesBetween(commits), after };
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
