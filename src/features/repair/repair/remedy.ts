/** Finds the remedy for a ledger, from the tables or from the records that are left. Changes nothing. */
import { deferralEntries } from "../../../run/deferred/find-deferred.ts";
import { count, MigrateError } from "../../../errors/migrate-error.ts";
import { appliedIn, groupInDoubt, migrationsInDoubt, type LedgerState } from "../../../ledger/state/ledger-state.ts";
import { groupEntry, type LedgerEntry, type LedgerRecord } from "../../../ledger/state/record.ts";
import type { MigrationFile } from "../../../migrations/list-files.ts";
import type { Migration } from "../../../migrations/load.ts";
import { formatVersion } from "../../../migrations/file-name.ts";
import { placesIn, type FittingPlaces, type HistoryPosition } from "../../../plan/history/position.ts";
import { chosenPlace, differencesAt, isAt, nearestPlace, placeOfTable } from "./chosen-position.ts";
import type { HistoryLine, HistoryAction } from "../../../plan/history/timeline.ts";
import { areAll, describeDifference, howToFix, type TableDifference } from "../../../plan/history/table-drift.ts";
import { fittingVersion } from "./fitting-version.ts";
import type { Restored } from "../../../errors/repair.ts";
import type { Tables } from "../../../schema/table.ts";
import { keptPlaces } from "./kept-places.ts";
import { entriesFromTables } from "./rebuild-entries.ts";
import { entriesFromLedger } from "../../../plan/history/record-facts.ts";
import type { RestoredLedger } from "./lost-records.ts";
import type { Compared } from "../../../run/prepare/compare-with-ledger.ts";
import type { RunContext } from "../../../run/run-context.ts";

export type Remedy =
  | { readonly kind: "nothing" }
  | { readonly kind: "refused"; readonly error: MigrateError }
  /** `next` is the migration that stays in doubt. */
  | {
      readonly kind: "rebuild";
      readonly words: string;
      readonly entries: readonly LedgerEntry[];
      readonly next: number | undefined;
    };

export interface RepairInput extends Omit<RunContext, "migrations"> {
  readonly records: readonly LedgerRecord[];
  readonly files: readonly MigrationFile[];
  readonly migrations: readonly Migration[];
  /** The position in history that the user chose. */
  readonly choice: string | undefined;
}

interface Evidence extends RestoredLedger, Compared {
  /** Whether any record is about a migration, or a rebuild. */
  readonly hasRecords: boolean;
  /** Whether something else has changed its records. */
  readonly damaged: boolean;
  /** Why the history in the ledger is impossible; undefined if it is not. */
  readonly impossible: MigrateError | undefined;
}

export async function remedyFor(evidence: Evidence, input: RepairInput): Promise<Remedy> {
  return input.target.capabilities.describes ? await fromTables(evidence, input) : fromLedger(evidence, input);
}

async function fromTables(evidence: Evidence, input: RepairInput): Promise<Remedy> {
  const { state, described, differences } = evidence;
  const { choice } = input;
  const places = placesIn(input.migrations, state, described, input.target.capabilities);
  const { row, fits, possible } = places;
  const chosen = choice === undefined ? undefined : chosenPlace(row, choice);
  if (fits.length === 0 && chosen === undefined) return refused(await noPlace(row, evidence, input));
  // The user has seen the differences, and no other position is right.
  if (fits.length === 0) return rebuild(chosen!, row, evidence, input, differencesAt(row, chosen!, described));
  if (choice !== undefined) {
    const fitting = possible.find(({ done }) => done === chosen?.done);
    if (fitting !== undefined) return rebuild(fitting, row, evidence, input);
    return refused(new MigrateError("ERR_REPAIR_PLACE", { choice, places: fits.map(({ words }) => words) }));
  }
  const restored = isTrusted(evidence) ? await afterRestore(places, differences, state, described, input) : undefined;
  if (fits.length === 1 && restored === undefined) return rebuild(fits[0]!, row, evidence, input);
  return refused(
    new MigrateError("ERR_REPAIR_AMBIGUOUS", {
      places: fits.map(({ words }) => words),
      choices: choicesOf(fits),
      restored,
    }),
  );
}

function refused(error: MigrateError): Remedy {
  return { kind: "refused", error };
}

/** Whether the ledger itself is in order, so that its differences from the tables are theirs. */
function isTrusted({ hasRecords, agrees, damaged, impossible, differences }: Evidence): boolean {
  return hasRecords && agrees && !damaged && impossible === undefined && differences.length > 0;
}

/** `differing`: how the tables differ from what they were at that position. */
function rebuild(
  place: HistoryPosition,
  row: HistoryLine,
  { state, described, differences }: Evidence,
  { choice, ledger, runner }: RepairInput,
  differing: readonly TableDifference[] = [],
): Remedy {
  // A call of a run that was killed may still be under way.
  const following = row.actions[place.done]?.migration.version;
  const mayHaveRun = following !== undefined && migrationsInDoubt(state, runner.run).has(following);
  const next = place.isMidway || mayHaveRun ? following : undefined;
  const found =
    differing.length === 0
      ? `the tables are as they were ${place.words}: the ledger ${ledger} is to say so`
      : `the tables are not as they were ${place.words}: ${differing.map(describeDifference).join("; ")}; the ledger ${ledger} is to say that they are, and migrate verify then reports this`;
  const words = found + lostWith(differences, state, row.actions.slice(0, place.done));
  const group = [...groupInDoubt(state, runner.run)];
  // The record that the group has begun would be among those that no longer count.
  const begun = next !== undefined && group.includes(next) ? [groupEntry(group)] : [];
  const entries = [
    ...deferralEntries(described),
    ...entriesFromTables(row, place, state, choice !== undefined),
    ...begun,
  ];
  return { kind: "rebuild", words, entries, next };
}

/** The error if the tables match no position. */
async function noPlace(row: HistoryLine, evidence: Evidence, input: RepairInput): Promise<MigrateError> {
  const { state, described, differences, hasRecords, agrees } = evidence;
  const { place, differences: fewest } = nearestPlace(row, described);
  // A missing table must be brought back, however close another position is. A foreign table blocks a step. Tables that
  // were restored to different times must be restored again. Then the differences from the ledger are the ones to report.
  const isRestored = ({ table, kind }: TableDifference) =>
    kind === "foreign" || placeOfTable(row, table, described) !== undefined;
  const isLedgers =
    differences.some(({ kind }) => kind === "gone") ||
    (hasRecords && agrees && differences.length > 0 && differences.every(isRestored));
  const [nearest, found] = isLedgers ? ["what the ledger records", differences] : [place.words, fewest];
  // Of a table that is gone, the difference already tells that.
  const behind = found.flatMap(({ table, kind }) => {
    const own = kind === "changed" ? placeOfTable(row, table, described) : undefined;
    return own === undefined ? [] : [{ table, words: `table ${table} is as it was ${own.words}` }];
  });
  // Otherwise migrate verify names it.
  const version =
    isLedgers || behind.length !== 1 ? undefined : await fittingVersion(behind[0]!.table, described, state, input);
  return new MigrateError("ERR_REPAIR_NO_PLACE", {
    nearest,
    differences: found.map(describeDifference),
    hint: found.some(({ kind }) => kind === "gone") ? `${howToFix(found)}${withoutBackup}` : howToFix(found),
    behind: behind.map(({ words }) => words),
    restorable: version === undefined ? undefined : `version ${version} of ${behind[0]!.table}`,
    // Nobody needs a record of what the ledger states already.
    anyway: isLedgers || place.done === 0 || isAt(row, place, state) ? undefined : place.choice,
    problem: row.problem?.message,
    gaps: gapsIn(input.files).map(formatVersion),
  });
}

const choicesOf = (places: readonly HistoryPosition[]) => places.map((place) => place.choice);

/**
 * What holds if only the tables that differ were brought back: then what the ledger records of the rows of the others is
 * right. Undefined if that excludes no position.
 */
async function afterRestore(
  places: FittingPlaces,
  differences: readonly TableDifference[],
  state: LedgerState,
  described: Tables,
  input: RepairInput,
): Promise<Restored | undefined> {
  const tables = differences.map(({ table }) => table);
  const keptOf = (those: FittingPlaces) => keptPlaces(those, tables, state, input.runner.run);
  const kept = keptOf(places);
  if (kept.length === places.fits.length) return undefined;
  const [table, ...others] = tables;
  if (kept.length > 0 || table === undefined || others.length > 0) return { tables, choices: choicesOf(kept) };
  const version = await fittingVersion(table, described, state, input, (those) => keptOf(those).length > 0);
  return { tables, choices: [], version: version === undefined ? undefined : `version ${version} of ${table}` };
}

/** The way out that is left where a table is gone, and others are not as they were before it. */
const withoutBackup =
  "; without one, let migrate up create it EMPTY in another, empty database, and copy its folder from there";

/** What the new position means if it was found because tables are gone; the rows of these do not come back. */
function lostWith(differences: readonly TableDifference[], state: LedgerState, ran: readonly HistoryAction[]): string {
  const gone = differences.flatMap(({ kind, table }) => (kind === "gone" ? [table] : []));
  const kept = new Set(ran.flatMap(({ migration, number, total }) => (number === total ? [migration.version] : [])));
  const undone = appliedIn(state).filter(({ version }) => !kept.has(version)).length;
  if (gone.length === 0 || undone === 0) return "";
  const [is, it, them, rows] =
    gone.length === 1 ? ["table", "is", "it", "its rows"] : ["tables", "are", "them", "their rows"];
  return `; it then records ${count(undone, "migration")} as never applied, because ${is} ${gone.join(" and ")} ${it} gone, and the next migrate up creates ${them} EMPTY: to have ${rows}, bring ${them} back from a backup instead`;
}

/** The remedy if tables can't be described: the records that are left are the only source. */
function fromLedger(evidence: Evidence, { target, ledger, runner }: RepairInput): Remedy {
  const { state } = evidence;
  const inDoubt = [...migrationsInDoubt(state, runner.run)];
  const problem =
    blindProblem(evidence) ??
    (inDoubt.length > 1 ? "several migrations are in doubt; run migrate up first" : undefined);
  if (problem !== undefined) return refused(new MigrateError("ERR_REPAIR_BLIND", { target: target.name, problem }));
  return {
    kind: "rebuild",
    words:
      `the ledger ${ledger} is to say again what its records say now, ${count(appliedIn(state).length, "applied migration")}, and that this ` +
      "is all; the columns of the tables can't be looked at, so whether this is so is not checked: compare it with migrate status",
    entries: entriesFromLedger(state),
    next: inDoubt[0],
  };
}

/** Why the records that are left can't be trusted; undefined if they can. */
function blindProblem({ lost, agrees, hasRecords, differences, impossible }: Evidence): string | undefined {
  const shown = differences.map(describeDifference).join("; ");
  if (areAll("gone", differences)) return `${shown}; ${howToFix(differences)}`;
  const wayOut = "bring its markers back from a backup, or use the dialect namespace if the service has it";
  if (!hasRecords)
    return `${wayOut}; or, if you know up to which migration the tables are migrated, record that with migrate baseline --to NUMBER, which looks only at the names of tables`;
  if (differences.length > 0)
    return lost.length === 0 && agrees
      ? `${shown}; if its newest markers are gone, bring them back from a backup; otherwise ${howToFix(differences)}`
      : wayOut;
  if (impossible !== undefined) return `what is left of it can't be (${impossible.message}); ${wayOut}`;
  if (agrees) return undefined;
  return `its newest record states that other migrations are applied than all that are left, and not that the first files are; ${wayOut}`;
}

/** Numbers between those of the files that none of them has or replaces. Empty if they are not counted one by one. */
function gapsIn(files: readonly MigrationFile[]): readonly number[] {
  const known = new Set(
    files.flatMap(({ version, replaces = [] }) => [version, ...replaces.map((one) => one.version)]),
  );
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const missing = most - least + 1 - known.size;
  if (known.size === 0 || missing > known.size) return [];
  return Array.from({ length: most - least }, (_, at) => least + at).filter((version) => !known.has(version));
}
