/** Determines the position of the tables in the history: how many actions of the migration files are done. Pure. */
import { count, MigrateError } from "../../errors/migrate-error.ts";
import { agreesWithNewest } from "../../ledger/audit/audit-applied.ts";
import { isDone, type LedgerState } from "../../ledger/state/ledger-state.ts";
import { formatMigration, formatVersion } from "../../migrations/file-name.ts";
import type { Migration } from "../../migrations/load.ts";
import { andNoMore, sameTable, sameTables, type Table, type Tables } from "../../schema/table.ts";
import { compileMigration, type Able, type Describing } from "../compile/compile.ts";
import { versionUnknown } from "./pending.ts";
import { differencesOf, type TableDifference } from "./table-drift.ts";
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

interface NearestPosition {
  readonly place: HistoryPosition;
  readonly differences: readonly TableDifference[];
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

/**
 * The position with the fewest differences, the last one of several. A table that should not exist counts by its
 * columns.
 */
export function nearestPlace(row: HistoryRow, snapshots: Tables): NearestPosition {
  const compare = (table: string, should: Table | undefined) => {
    const found = snapshots.get(table);
    const differences = differencesOf(table, should, found);
    // A missing table can be brought back. A table that exists too early must be dropped with its rows.
    const sizes = differences.map(({ kind, differences: words }) =>
      kind === "foreign" ? found!.columns.length + 1 : words.length,
    );
    return { differences, size: sizes[0] ?? 0 };
  };
  const compared = new Map(tablesOf(row).map((table) => [table, compare(table, undefined)]));
  const sizeOf = () => [...compared.values()].reduce((sum, { size }) => sum + size, 0);
  const here = (done: number): NearestPosition => ({
    place: placeAt(row, done),
    differences: [...compared.values()].flatMap(({ differences }) => differences),
  });
  let [nearest, least] = [here(0), sizeOf()];
  for (const [index, { after, begun }] of row.actions.entries()) {
    for (const [table, state] of begun?.after ?? after) compared.set(table, compare(table, state));
    const size = sizeOf();
    if (size <= least) [nearest, least] = [here(index + 1), size];
  }
  return nearest;
}

/** How the tables differ from those at a position. */
export function differencesAt(
  row: HistoryRow,
  { done }: HistoryPosition,
  snapshots: Tables,
): readonly TableDifference[] {
  const expected = new Map<string, Table | undefined>(tablesOf(row).map((table) => [table, undefined]));
  for (const { after } of row.actions.slice(0, done)) for (const [table, state] of after) expected.set(table, state);
  return [...expected].flatMap(([table, should]) => differencesOf(table, should, snapshots.get(table)));
}

/** The last position at which this table was as it is now; undefined if there is none. */
export function placeOfTable(row: HistoryRow, table: string, snapshots: Tables): HistoryPosition | undefined {
  let state: Table | undefined;
  const isAsNow = () => sameTable(state, snapshots.get(table));
  let place = isAsNow() ? placeAt(row, 0) : undefined;
  for (const [index, { after }] of row.actions.entries()) {
    if (after.has(table)) state = after.get(table);
    if (isAsNow()) place = placeAt(row, index + 1);
  }
  return place;
}

/** Before the first migration. It is not a number, because a migration may have any number, including 0. */
const atStart = "start";

/** Refuses a choice that is not among the migrations. */
export function checkChoice(choice: string, migrations: readonly Migration[], describing: Describing): void {
  if (choice === atStart) return;
  const { version, number } = parseChoice(choice);
  const migration = migrations.find((one) => one.version === version);
  if (migration === undefined) throw versionUnknown(version, migrations);
  const total = compileMigration(migration, describing).length;
  if (number === undefined || number <= total) return;
  const problem = `--to ${choice}: ${formatMigration(migration)} has ${count(total, "action")}`;
  throw new MigrateError("ERR_USAGE", { problem });
}

/** The position for a choice; undefined if there is none. */
export function chosenPlace(row: HistoryRow, choice: string): HistoryPosition | undefined {
  if (choice === atStart) return placeAt(row, 0);
  const { version, number } = parseChoice(choice);
  const index = row.actions.findIndex(
    (one) => one.migration.version === version && one.number === (number ?? one.total),
  );
  return index === -1 ? undefined : placeAt(row, index + 1);
}

function parseChoice(choice: string): { readonly version: number; readonly number: number | undefined } {
  const [version, number] = choice.split(".").map(Number);
  return { version: version!, number };
}

/** Whether the ledger states exactly that all actions up to the position are done, and none after it. */
export function isAt({ actions }: HistoryRow, { done }: HistoryPosition, { migrations }: LedgerState): boolean {
  return actions.every(
    ({ migration, number }, index) =>
      isDone(migrations.get(migration.version), { action: number, isBack: false }) === index < done,
  );
}

function placeAt({ actions }: HistoryRow, done: number, isMidway = false): HistoryPosition {
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
