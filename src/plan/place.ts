/** Which place in history tables are at: so many actions of the migration files are done, and none after. Pure. */
import { count, isMigrateError, MigrateError } from "../errors.ts";
import { agreesWithNewest } from "../ledger/audit-applied.ts";
import { isDone, type LedgerState } from "../ledger/fold.ts";
import { formatMigration, formatVersion } from "../migrations/file-name.ts";
import type { Migration } from "../migrations/load.ts";
import { tableAfter } from "../schema/action.ts";
import { sameTable, type Table } from "../schema/table.ts";
import { compileMigration, type Describing, type PlacedAction } from "./compile.ts";
import { versionUnknown } from "./history.ts";
import { inOrder } from "./plan.ts";
import { differencesOf, type TableDifference } from "./put-right.ts";
import type { Sights } from "./settle.ts";

/** A migration's actions in the row of all. */
export interface RowAction extends PlacedAction {
  readonly migration: Migration;
  /** Which one of the migration it is, counted from 1. */
  readonly number: number;
  readonly total: number;
  /** Its table after it. */
  readonly after: Table;
}

export interface HistoryRow {
  readonly actions: readonly RowAction[];
  /** Why the row ends before the last migration. */
  readonly problem: MigrateError | undefined;
}

export interface Place {
  /** How many actions of the row are done. */
  readonly done: number;
  /** In words: after which migration, or in the middle of which. */
  readonly words: string;
  /** How people choose it: `3`, `3.2` for two actions of the third migration, or `start`. */
  readonly choice: string;
}

export interface Nearest {
  readonly place: Place;
  readonly differences: readonly TableDifference[];
}

/** All actions in the order in which the ledger says that they ran, and then in that of the files. */
export function historyRow(migrations: readonly Migration[], state: LedgerState, describing: Describing): HistoryRow {
  const ran = inOrder(migrations, state);
  return possibleRow([...ran, ...without(ran, migrations)], migrations, describing);
}

/** The row of actions that has places at which every table is as it was seen, and these places. */
export function placesIn(
  migrations: readonly Migration[],
  state: LedgerState,
  sights: Sights,
  describing: Describing,
): { readonly row: HistoryRow; readonly fits: readonly Place[] } {
  // What a ledger says no more that it ran may have run between what it says still.
  if (!agreesWithNewest(state)) {
    const row = possibleRow(withLostBetween(inOrder(migrations, state), migrations), migrations, describing);
    const fits = fittingPlaces(row, sights);
    if (fits.length > 0) return { row, fits };
  }
  const row = historyRow(migrations, state, describing);
  return { row, fits: fittingPlaces(row, sights) };
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
        const after = tableAfter(database, action);
        database.set(action.table, after);
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
  return [...new Set(actions.map(({ action }) => action.table))];
}

/** The places at which every table is as it was seen. */
export function fittingPlaces(row: HistoryRow, sights: Sights): readonly Place[] {
  const wrong = new Set(tablesOf(row).filter((table) => sights.get(table) !== undefined));
  const fits = wrong.size === 0 ? [placeAt(row, 0)] : [];
  for (const [index, { action, after }] of row.actions.entries()) {
    if (sameTable(after, sights.get(action.table))) wrong.delete(action.table);
    else wrong.add(action.table);
    if (wrong.size === 0) fits.push(placeAt(row, index + 1));
  }
  return fits;
}

/** The place with the fewest differences; of several the last. A table that should not be there counts by its columns. */
export function nearestPlace(row: HistoryRow, sights: Sights): Nearest {
  const compare = (table: string, should: Table | undefined) => {
    const found = sights.get(table);
    const differences = differencesOf(table, should, found);
    // What is gone can be brought back; what is there too early would have to be dropped with its rows.
    const sizes = differences.map(({ kind, differences: words }) =>
      kind === "foreign" ? found!.columns.length + 1 : words.length,
    );
    return { differences, size: sizes[0] ?? 0 };
  };
  const compared = new Map(tablesOf(row).map((table) => [table, compare(table, undefined)]));
  const sizeOf = () => [...compared.values()].reduce((sum, { size }) => sum + size, 0);
  const here = (done: number): Nearest => ({
    place: placeAt(row, done),
    differences: [...compared.values()].flatMap(({ differences }) => differences),
  });
  let [nearest, least] = [here(0), sizeOf()];
  for (const [index, { action, after }] of row.actions.entries()) {
    compared.set(action.table, compare(action.table, after));
    const size = sizeOf();
    if (size <= least) [nearest, least] = [here(index + 1), size];
  }
  return nearest;
}

/** Before the first migration: numbers are taken, 0 too. */
const atStart = "start";

/** Refuses a choice of what is not among the migrations. */
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

/** The place of that choice; undefined when there is none. */
export function chosenPlace(row: HistoryRow, choice: string): Place | undefined {
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

/** Whether the ledger says just that: all up to the place is done, and nothing after. */
export function isAt({ actions }: HistoryRow, { done }: Place, { migrations }: LedgerState): boolean {
  return actions.every(
    ({ migration, number }, index) => isDone(migrations.get(migration.version), number) === index < done,
  );
}

function placeAt({ actions }: HistoryRow, done: number): Place {
  const last = actions[done - 1];
  if (last === undefined) return { done, words: "before the first migration", choice: atStart };
  const { migration, number, total } = last;
  return number === total
    ? { done, words: `after ${formatMigration(migration)}`, choice: formatVersion(migration.version) }
    : {
        done,
        words: `after ${number} of ${total} actions of ${formatMigration(migration)}`,
        choice: `${formatVersion(migration.version)}.${number}`,
      };
}
