/** Determines the position of the tables in the history: how many actions of the migration files are done. Pure. */
import { agreesWithNewest } from "../../ledger/audit/audit-applied.ts";
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import { formatMigration, formatVersion } from "../../migrations/file-name.ts";
import type { Migration } from "../../migrations/load.ts";
import { andNoMore, sameTable, sameTables, type Table, type Tables } from "../../schema/table.ts";
import type { Able } from "../compile/compile.ts";
import { historyRow, possiblyBegun, restoredRow, tablesOf, type HistoryRow, type RowAction } from "./timeline.ts";

export interface HistoryPosition {
  /** How many actions of the sequence are done. */
  readonly done: number;
  /** As text: after which migration, or in the middle of which. */
  readonly words: string;
  /** Whether the tables are between two commits of the next action. */
  readonly isMidway: boolean;
  /** How a user selects it: `3`, `3.2` for two actions of migration 3, or `start`. */
  readonly choice: string;
}

export interface FittingPlaces {
  /** The sequence of actions that has them. */
  readonly row: HistoryRow;
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
    const found = placesOf(restoredRow(migrations, state, able), state, snapshots, able);
    if (found.fits.length > 0) return found;
  }
  return placesOf(historyRow(migrations, state, able), state, snapshots, able);
}

function placesOf(row: HistoryRow, ledger: LedgerState, snapshots: Tables, able: Able): FittingPlaces {
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
  row: HistoryRow,
  snapshots: Tables,
  asOf = (_: string, state: Table | undefined): Table | undefined => state,
): readonly HistoryPosition[] {
  const wrong = new Set(tablesOf(row).filter((table) => snapshots.get(table) !== undefined));
  const fits = wrong.size === 0 ? [placeAt(row, 0)] : [];
  for (const [index, { after, begun }] of row.actions.entries()) {
    const isFit = fits.at(-1)?.done === index;
    const done = begun?.after ?? after;
    const others = [...wrong].filter((table) => !done.has(table));
    const isBetween = begun?.between.some((tables) => others.length === 0 && sameTables(tables, snapshots)) === true;
    for (const [table, state] of done)
      if (sameTable(asOf(table, state), snapshots.get(table))) wrong.delete(table);
      else wrong.add(table);
    if (wrong.size === 0) fits.push(placeAt(row, index + 1));
    else if (isBetween && !isFit) fits.push(placeAt(row, index, true));
  }
  return fits;
}

/** Before the first migration. It is not a number, because a migration may have any number, including 0. */
export const atStart = "start";

/** The position once this number of actions is done. */
export function placeAt({ actions }: HistoryRow, done: number, isMidway = false): HistoryPosition {
  const [last, next] = [actions[done - 1], actions[done]];
  const number = last?.number === last?.total ? undefined : last?.number;
  const choice = last === undefined ? atStart : formatVersion(last.migration.version) + (number ? `.${number}` : "");
  return { done, isMidway, choice, words: isMidway ? wordsWithin(next!) : wordsAfter(last) };
}

function wordsAfter(last: RowAction | undefined): string {
  if (last === undefined) return "before the first migration";
  const { migration, number, total } = last;
  const part = number === total ? "" : `${number} of ${total} actions of `;
  return `after ${part}${formatMigration(migration)}`;
}

function wordsWithin({ migration, number, total }: RowAction): string {
  return `in the middle of ${total === 1 ? "" : `action ${number} of `}${formatMigration(migration)}`;
}
