/** Determines the position of the tables in the history: how many actions of the migration files are done. Pure. */
import { agreesWithNewest } from "../../ledger/audit/audit-applied.ts";
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import { formatMigration, formatVersion } from "../../migrations/file-name.ts";
import type { Migration } from "../../migrations/load.ts";
import { andNoMore, sameTable, sameTables, type Table, type Tables } from "../../schema/table.ts";
import type { ActionStates } from "../commits/commits.ts";
import type { Able } from "../compile/compile.ts";
import {
  historyLine,
  possiblyBegun,
  restoredLine,
  tablesOfHistory,
  type HistoryLine,
  type HistoryAction,
} from "./timeline.ts";

/** How far a sequence of actions has got, as the tables show it. */
export interface Position {
  /** How many of the actions are done. */
  readonly done: number;
  /** Whether the tables are between two commits of the next action. */
  readonly isMidway: boolean;
}

/** A position in the sequence of all migrations, as users read and select it. */
export interface HistoryPosition extends Position {
  /** As text: after which migration, or in the middle of which. */
  readonly words: string;
  /** How a user selects it: `3`, `3.2` for two actions of migration 3, or `start`. */
  readonly choice: string;
}

export interface FittingPlaces {
  /** The sequence of actions that has them. */
  readonly row: HistoryLine;
  readonly fits: readonly HistoryPosition[];
  /** With those at which a table already has an index or metadata that a later action makes. */
  readonly possible: readonly HistoryPosition[];
}

/** The positions at which every table matches `snapshots`. */
export function placesIn(
  migrations: readonly Migration[],
  state: LedgerState,
  snapshots: Tables,
  able: Able,
): FittingPlaces {
  if (!agreesWithNewest(state)) {
    const found = placesOf(restoredLine(migrations, state, able), state, snapshots, able);
    if (found.fits.length > 0) return found;
  }
  return placesOf(historyLine(migrations, state, able), state, snapshots, able);
}

function placesOf(row: HistoryLine, ledger: LedgerState, snapshots: Tables, able: Able): FittingPlaces {
  const last = new Map<string, Table>();
  for (const { after } of row.actions) for (const [table, state] of after) if (state) last.set(table, state);
  // Of indexes and metadata that others gave the table nothing is known, but those of a later action are mostly its own.
  const exact = fittingPlaces(row, snapshots, (table, state) => andNoMore(state, last.get(table)));
  const known = fittingPlaces(row, snapshots);
  const possible = known.length > 0 ? known : fittingPlaces(possiblyBegun(row, ledger, able), snapshots);
  return { row, fits: exact.length > 0 ? exact : possible, possible };
}

/** The positions at which every table matches `snapshots`. `asOf`: what is required of a table there. */
export function fittingPlaces(
  row: HistoryLine,
  snapshots: Tables,
  asOf = (_: string, state: Table | undefined): Table | undefined => state,
): readonly HistoryPosition[] {
  const start = new Map(tablesOfHistory(row).map((table) => [table, undefined]));
  const states = row.actions.map(({ after, begun }) => begun ?? { between: [], after });
  const found = [...positionsIn(start, states, snapshots, asOf)];
  return found.map(({ done, isMidway }) => placeAt(row, done, isMidway));
}

/** The positions at which every table matches `snapshots`, in order. `start`: the tables before the first action. */
export function* positionsIn(
  start: Tables,
  actions: readonly ActionStates[],
  snapshots: Tables,
  asOf = (_: string, state: Table | undefined): Table | undefined => state,
): Generator<Position> {
  const isWrong = (table: string, state: Table | undefined) => !sameTable(state, snapshots.get(table));
  const wrong = new Set([...start].flatMap(([table, state]) => (isWrong(table, state) ? [table] : [])));
  if (wrong.size === 0) yield { done: 0, isMidway: false };
  for (const [done, { between, after }] of actions.entries()) {
    const isBefore = wrong.size === 0;
    const isBetween = between.some(
      (tables) => [...wrong].every((table) => tables.has(table)) && sameTables(tables, snapshots),
    );
    for (const [table, state] of after ?? [])
      if (isWrong(table, asOf(table, state))) wrong.add(table);
      else wrong.delete(table);
    if (after !== undefined && wrong.size === 0) yield { done: done + 1, isMidway: false };
    else if (isBetween && !isBefore) yield { done, isMidway: true };
  }
}

/** Before the first migration. It is not a number, because a migration may have any number, including 0. */
export const atStart = "start";

/** The position once this number of actions is done. */
export function placeAt({ actions }: HistoryLine, done: number, isMidway = false): HistoryPosition {
  const [last, next] = [actions[done - 1], actions[done]];
  const number = last?.number === last?.total ? undefined : last?.number;
  const choice = last === undefined ? atStart : formatVersion(last.migration.version) + (number ? `.${number}` : "");
  return { done, isMidway, choice, words: isMidway ? wordsWithin(next!) : wordsAfter(last) };
}

function wordsAfter(last: HistoryAction | undefined): string {
  if (last === undefined) return "before the first migration";
  const { migration, number, total } = last;
  const part = number === total ? "" : `${number} of ${total} actions of `;
  return `after ${part}${formatMigration(migration)}`;
}

function wordsWithin({ migration, number, total }: HistoryAction): string {
  return `in the middle of ${total === 1 ? "" : `action ${number} of `}${formatMigration(migration)}`;
}
