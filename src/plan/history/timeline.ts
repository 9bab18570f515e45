/** The sequence of all actions of the migration files, in the order in which they ran or would run. Pure. */
import { problemIn, type MigrateError } from "../../errors/migrate-error.ts";
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import type { PartialAction, Preserved } from "../../ledger/state/record.ts";
import type { Migration } from "../../migrations/load.ts";
import type { Action } from "../../actions/model/action.ts";
import { isReserved } from "../../actions/rewrite/append-guard.ts";
import { tablesOfAction } from "../../actions/apply-action.ts";
import type { Table, Tables } from "../../schema/table.ts";
import { statesBetween, type ActionStates } from "../commits/commits.ts";
import { compileMigration, type Able, type PlacedAction } from "../compile/compile.ts";
import { replay } from "../compile/replay.ts";
import { historyOrder, inRunOrder } from "./replay.ts";
import { commitsOfBegun } from "../commits/commit-progress.ts";

/** An action of the sequence. */
export interface HistoryAction extends PlacedAction {
  readonly migration: Migration;
  /** Its position in its migration, counted from 1. */
  readonly number: number;
  readonly total: number;
  /** The tables that it touches, before it. */
  readonly before: Tables;
  /** The tables that it changes, after it. */
  readonly after: Tables;
  /** Set if the ledger records that the action has begun and takes several commits. */
  readonly begun?: ActionStates | undefined;
}

export interface HistoryLine {
  readonly actions: readonly HistoryAction[];
  /** Why the sequence ends before the last migration. */
  readonly problem: MigrateError | undefined;
}

/** All actions: first those of migrations that have run, in the ledger's order, then the others in file order. */
export function historyLine(migrations: readonly Migration[], state: LedgerState, able: Able): HistoryLine {
  return possibleRow(inRunOrder(migrations, state), migrations, state, able);
}

/** The same for a ledger that lost records: migrations without a record may have run between those with one. */
export function restoredLine(migrations: readonly Migration[], state: LedgerState, able: Able): HistoryLine {
  return possibleRow(withLostBetween(historyOrder(migrations, state), migrations), migrations, state, able);
}

/** Puts each of the others before the first migration with a higher number. */
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

/** Falls back to file order if the given order is impossible, because the ledger was changed. */
function possibleRow(
  order: readonly Migration[],
  migrations: readonly Migration[],
  state: LedgerState,
  able: Able,
): HistoryLine {
  const row = rowOf(order, state, able);
  return row.problem === undefined ? row : rowOf(migrations, state, able);
}

function rowOf(migrations: readonly Migration[], state: LedgerState, able: Able): HistoryLine {
  const database = new Map<string, Table>();
  const actions: HistoryAction[] = [];
  const problem = problemIn(() => {
    for (const migration of migrations) {
      const compiled = compileMigration(migration, able);
      // Without their places: the problem is stated without one.
      const bare = compiled.map(({ action }) => ({ action }));
      replay(database, bare, ({ action }, before, after, index) => {
        const number = index + 1;
        const midway = midwayOf(state, migration, number);
        const begun = midway && begunAs(action, before, midway, able);
        actions.push({ ...compiled[index]!, migration, number, total: compiled.length, before, after, begun });
      });
    }
  });
  return { actions, problem };
}

/** What the ledger keeps of the action with that number; undefined if it has not begun. */
export function midwayOf(
  { migrations }: LedgerState,
  { version }: Migration,
  number: number,
): PartialAction | undefined {
  const known = migrations.get(version);
  return known?.step === number - 1 ? known.midway : undefined;
}

function begunAs(action: Action, before: Tables, midway: Preserved, { actions }: Able): ActionStates {
  const { commits, after } = commitsOfBegun(action, before, midway, { actions, describes: true });
  return { between: statesBetween(commits), after };
}

/**
 * The sequence as it is if each action may have begun: its record may be lost, or an old version of its table is back. Of
 * a migration with a record, only states with a column of an unfinished action count.
 */
export function possiblyBegun(row: HistoryLine, { migrations }: LedgerState, able: Able): HistoryLine {
  const nothing: Preserved = { indexes: {}, metadata: {} };
  const actions = row.actions.map((one) => {
    if (one.begun !== undefined) return one;
    const begun = begunAs(one.action, one.before, nothing, able);
    if (!migrations.has(one.migration.version)) return { ...one, begun };
    return { ...one, begun: { ...begun, between: begun.between.filter(isUnfinished) } };
  });
  return { ...row, actions };
}

function isUnfinished(tables: Tables): boolean {
  return [...tables.values()].some((table) => table?.columns.some(({ name }) => isReserved(name)) === true);
}

/** All tables that the sequence touches. */
export function tablesOfHistory({ actions }: HistoryLine): readonly string[] {
  return [...new Set(actions.flatMap(({ action }) => tablesOfAction(action)))];
}

/** The tables whose indexes are known at some point of the sequence. */
export function indexedIn({ actions }: HistoryLine): ReadonlySet<string> {
  const states = actions.flatMap(({ after }) => [...after]);
  return new Set(states.flatMap(([name, table]) => (table?.indexes === undefined ? [] : [name])));
}
