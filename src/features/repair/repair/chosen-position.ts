/** Positions in the history that do not fit all tables, and those that a user selects. Pure. */
import { count, MigrateError } from "../../../errors/migrate-error.ts";
import { isDone, type LedgerState } from "../../../ledger/state/ledger-state.ts";
import { formatMigration } from "../../../migrations/file-name.ts";
import type { Migration } from "../../../migrations/load.ts";
import { compileMigration, type Describing } from "../../../plan/compile/compile.ts";
import { versionUnknown } from "../../../plan/history/pending.ts";
import { atStart, placeAt, type HistoryPosition } from "../../../plan/history/position.ts";
import { differencesOf, type TableDifference } from "../../../plan/history/table-drift.ts";
import { tablesOfHistory, type HistoryLine } from "../../../plan/history/timeline.ts";
import { sameTable, type Table, type Tables } from "../../../schema/table.ts";

interface NearestPosition {
  readonly place: HistoryPosition;
  readonly differences: readonly TableDifference[];
}

/**
 * The position with the fewest differences, the last one of several. A table that should not exist counts by its
 * columns.
 */
export function nearestPlace(row: HistoryLine, snapshots: Tables): NearestPosition {
  const compare = (table: string, should: Table | undefined) => {
    const found = snapshots.get(table);
    const differences = differencesOf(table, should, found);
    // A missing table can be brought back. A table that exists too early must be dropped with its rows.
    const sizes = differences.map(({ kind, differences: words }) =>
      kind === "foreign" ? found!.columns.length + 1 : words.length,
    );
    return { differences, size: sizes[0] ?? 0 };
  };
  const compared = new Map(tablesOfHistory(row).map((table) => [table, compare(table, undefined)]));
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
  row: HistoryLine,
  { done }: HistoryPosition,
  snapshots: Tables,
): readonly TableDifference[] {
  const expected = new Map<string, Table | undefined>(tablesOfHistory(row).map((table) => [table, undefined]));
  for (const { after } of row.actions.slice(0, done)) for (const [table, state] of after) expected.set(table, state);
  return [...expected].flatMap(([table, should]) => differencesOf(table, should, snapshots.get(table)));
}

/** The last position at which this table was as it is now; undefined if there is none. */
export function placeOfTable(row: HistoryLine, table: string, snapshots: Tables): HistoryPosition | undefined {
  let state: Table | undefined;
  const isAsNow = () => sameTable(state, snapshots.get(table));
  let place = isAsNow() ? placeAt(row, 0) : undefined;
  for (const [index, { after }] of row.actions.entries()) {
    if (after.has(table)) state = after.get(table);
    if (isAsNow()) place = placeAt(row, index + 1);
  }
  return place;
}

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
export function chosenPlace(row: HistoryLine, choice: string): HistoryPosition | undefined {
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
export function isAt({ actions }: HistoryLine, { done }: HistoryPosition, { migrations }: LedgerState): boolean {
  return actions.every(
    ({ migration, number }, index) =>
      isDone(migrations.get(migration.version), { action: number, isBack: false }) === index < done,
  );
}
