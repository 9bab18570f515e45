/** What `repair` sees, in plain words, and what it would do about it. Changes nothing. */
import { count, isMigrateError, MigrateError } from "../errors.ts";
import type { Clock } from "../clock.ts";
import { auditLedger } from "../ledger/audit.ts";
import { agreesWithNewest } from "../ledger/audit-applied.ts";
import { appliedIn, foldLedger, inDoubt, type LedgerState } from "../ledger/fold.ts";
import type { Journal } from "../ledger/journal.ts";
import type { LedgerEntry, LedgerRecord } from "../ledger/record.ts";
import { formatMigration, formatVersion } from "../migrations/file-name.ts";
import type { MigrationFile } from "../migrations/files.ts";
import type { Migration } from "../migrations/load.ts";
import type { TableDifference } from "../plan/compare.ts";
import { checkMissing, checkUnchanged } from "../plan/history.ts";
import {
  chosenPlace,
  fittingPlaces,
  historyRow,
  nearestPlace,
  tablesOf,
  type HistoryRow,
  type Place,
} from "../plan/place.ts";
import { entriesFromLedger, entriesFromTables } from "../plan/rebuild.ts";
import { withLost, type Restored } from "../plan/restore.ts";
import type { Sights } from "../plan/settle.ts";
import type { Target } from "../targets/target.ts";
import { compare, seen, type Compared } from "./compare.ts";

export interface Diagnosis {
  readonly state: LedgerState;
  readonly sees: readonly string[];
  readonly cure: Cure;
}

export type Cure =
  | { readonly kind: "nothing" }
  | { readonly kind: "refused"; readonly error: MigrateError }
  /** `next` is the migration that stays in doubt. */
  | {
      readonly kind: "rebuild";
      readonly words: string;
      readonly entries: readonly LedgerEntry[];
      readonly next: number | undefined;
    };

export interface Patient {
  readonly target: Target;
  readonly ledger: string;
  readonly journal: Journal;
  readonly records: readonly LedgerRecord[];
  readonly files: readonly MigrationFile[];
  readonly migrations: readonly Migration[];
  readonly clock: Clock;
  /** The run that looks: its own doing is no doubt to it. */
  readonly run: string;
  /** The place in history that was chosen. */
  readonly choice: string | undefined;
}

export async function diagnose(patient: Patient): Promise<Diagnosis> {
  const { records, journal, target } = patient;
  const { state, lost } = stateOf(patient);
  const findings = auditLedger(records, journal.hashOf).filter(({ known }) => !known);
  const sees = [
    ...(findings.length === 0 ? [] : ["the ledger was changed by something else than this tool:"]),
    ...findings.map(({ sentence }) => `  ${sentence}`),
    ...lost.map(
      (one) =>
        `no record says any more that ${formatMigration(one)} is applied, but the running hash of later ones does`,
    ),
    ...course(state, patient),
  ];
  const damaged = findings.length > 0;
  const { differences, sights, impossible } = await comparedWith(state, damaged, patient);
  if (differences.length === 0 && !damaged) return { state, sees, cure: { kind: "nothing" } };
  const said = records.some(({ version, event }) => version !== undefined || event === "rebuilt");
  sees.push(...(said ? differences.map(differenceText) : [lostText(patient.ledger, sights)]));
  const cure = target.capabilities.describes
    ? fromTables(historyRow(patient.migrations, state, target.capabilities), sights, state, patient)
    : fromLedger(state, lost, said, differences, impossible, patient);
  return { state, sees, cure };
}

/** What the records say. Where nobody can look at the tables, it counts too what only their hashes say. */
function stateOf({ records, migrations, target: { capabilities } }: Patient): Restored {
  const state = foldLedger(records);
  return capabilities.describes ? { state, lost: [] } : withLost(state, records, migrations, capabilities);
}

/** What goes on, or that the next run sees to by itself. */
function course(state: LedgerState, { clock, run }: Patient): readonly string[] {
  const { holder, head, migrations, late } = state;
  const held = holder !== undefined && holder.run !== run;
  // The name of a marker that takes an epoch does not say when.
  const since =
    head === undefined || head.at === 0 ? "" : `, last heard of ${ago(clock.wall() - head.at)} by this clock`;
  const names = (version: number) => {
    const known = migrations.get(version);
    return known === undefined ? formatVersion(version) : formatMigration(known);
  };
  return [
    ...(held
      ? [`${holder.by} holds the lease${since}; once it is silent for a whole lease, the next migrate up takes over`]
      : []),
    ...[...inDoubt(state, run)].map(
      (version) => `${names(version)} may have run further than is recorded; the next migrate up finds out and goes on`,
    ),
    ...[...migrations.values()]
      .filter(({ status }) => status === "partial")
      .map(
        (one) =>
          `${formatMigration(one)} has ${one.step} of ${count(one.total, "action")} done; the next migrate up goes on`,
      ),
    ...late.map(
      ({ version, action }) =>
        `action ${action} of ${names(version)} may have come late; the next migrate up looks at its table`,
    ),
  ];
}

function ago(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  return seconds < 120 ? `${count(seconds, "second")} ago` : `${count(Math.round(seconds / 60), "minute")} ago`;
}

/** The tables against the ledger. Where that was changed, what it says may be nothing that can be. */
async function comparedWith(
  state: LedgerState,
  damaged: boolean,
  patient: Patient,
): Promise<Compared & { readonly impossible?: MigrateError }> {
  const { target, files, migrations } = patient;
  try {
    checkMissing(files, state);
    checkUnchanged(migrations, state, target.capabilities);
    return await compare({ ...patient, state });
  } catch (error) {
    if (!damaged || !isMigrateError(error) || error.outcome !== "refused") throw error;
    const row = historyRow(migrations, foldLedger([]), target.capabilities);
    return { sights: await seen(target, tablesOf(row), false), differences: [], impossible: error };
  }
}

function differenceText({ table, differences }: TableDifference): string {
  return `table ${table} is not as the ledger says: ${differences.join("; ")}`;
}

function lostText(ledger: string, sights: Sights): string {
  const there = [...sights].filter(([, table]) => table !== undefined).map(([name]) => name);
  const tables =
    there.length === 0 ? "no table that they make is there" : `tables that they make are there: ${there.join(", ")}`;
  return `the ledger ${ledger} says of no migration that it ran, and ${tables}`;
}

function fromTables(row: HistoryRow, sights: Sights, state: LedgerState, patient: Patient): Cure {
  const fits = fittingPlaces(row, sights);
  const refused = (error: MigrateError): Cure => ({ kind: "refused", error });
  const rebuilt = (place: Place): Cure => {
    // A call of a run that was killed may still be under way.
    const following = row.actions[place.done]?.migration.version;
    const next = following !== undefined && inDoubt(state, patient.run).has(following) ? following : undefined;
    const words = `the tables are as they were ${place.words}: the ledger ${patient.ledger} is to say so`;
    return { kind: "rebuild", words, entries: entriesFromTables(row, place, state), next };
  };
  const nearest = nearestPlace(row, sights);
  if (fits.length === 0)
    return refused(
      new MigrateError("ERR_REPAIR_NO_PLACE", {
        nearest: nearest.place.words,
        differences: nearest.differences.map(inShort),
        problem: row.problem?.message,
      }),
    );
  const { choice } = patient;
  if (choice !== undefined) {
    const chosen = chosenPlace(row, choice);
    const fitting = fits.find(({ done }) => done === chosen?.done);
    if (fitting !== undefined) return rebuilt(fitting);
    return refused(new MigrateError("ERR_REPAIR_PLACE", { choice, places: fits.map(({ words }) => words) }));
  }
  if (fits.length > 1)
    return refused(
      new MigrateError("ERR_REPAIR_AMBIGUOUS", {
        places: fits.map(({ words }) => words),
        choices: fits.map((place) => place.choice),
      }),
    );
  return rebuilt(fits[0]!);
}

function inShort({ table, differences }: TableDifference): string {
  return `table ${table}: ${differences.join(", ")}`;
}

/** Where tables can't be described: the records that are left are all that anybody knows. */
function fromLedger(
  state: LedgerState,
  lost: Restored["lost"],
  said: boolean,
  differences: readonly TableDifference[],
  impossible: MigrateError | undefined,
  { target, ledger, run }: Patient,
): Cure {
  const doubtful = [...inDoubt(state, run)];
  const wayOut = "bring its markers back from a backup, or use the dialect namespace if the service has it";
  const problem =
    !said || differences.length > 0
      ? wayOut
      : impossible !== undefined
        ? `what is left of it can't be (${impossible.message}); ${wayOut}`
        : lost.length === 0 && !agreesWithNewest(state)
          ? `its newest record says that other migrations are applied than all that are left, and not that the first files are; ${wayOut}`
          : doubtful.length > 1
            ? "several migrations are in doubt; run migrate up first"
            : undefined;
  if (problem !== undefined)
    return { kind: "refused", error: new MigrateError("ERR_REPAIR_BLIND", { target: target.name, problem }) };
  return {
    kind: "rebuild",
    words:
      `the ledger ${ledger} is to say again what its records say now, ${count(appliedIn(state).length, "applied migration")}, and that this ` +
      "is all; the columns of the tables can't be looked at, so whether this is so is not checked: compare it with migrate status",
    entries: entriesFromLedger(state),
    next: doubtful[0],
  };
}
