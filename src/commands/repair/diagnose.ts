/** Finds what is wrong with the ledger, and the remedy. Changes nothing. */
import { count, isMigrateError, type MigrateError } from "../../errors/migrate-error.ts";
import { auditLedger } from "../../ledger/audit/audit.ts";
import { agreesWithNewest } from "../../ledger/audit/audit-applied.ts";
import { foldLedger, migrationsInDoubt, type LedgerState } from "../../ledger/state/fold.ts";
import { formatMigration, formatVersion } from "../../migrations/file-name.ts";
import { checkMissing, checkUnchanged } from "../../plan/history/pending.ts";
import { foldHistory } from "../../plan/history/replay.ts";
import { chosenPlace, isAt } from "../../plan/history/position.ts";
import type { TableDifference } from "../../plan/history/table-drift.ts";
import { historyRow, indexedIn, tablesOf } from "../../plan/history/timeline.ts";
import { withLost, type RestoredLedger } from "./lost-records.ts";
import type { Tables } from "../../schema/table.ts";
import { compare, describeForComparison, type Compared } from "../../run/prepare/compare-tables.ts";
import { remedyFor, type Remedy, type RepairInput } from "./remedy.ts";
import { holderWords } from "../../run/lease/describe-holder.ts";

export interface Diagnosis {
  readonly state: LedgerState;
  readonly sees: readonly string[];
  readonly cure: Remedy;
}

export async function diagnose(patient: RepairInput): Promise<Diagnosis> {
  const { records, journal } = patient;
  const restored = stateOf(patient);
  const { state, lost } = restored;
  const findings = auditLedger(records, journal.hashOf).filter(({ known }) => !known);
  const damaged = findings.length > 0;
  const { differences, sights, impossible } = await comparedWith(state, damaged, patient);
  const isWell = differences.length === 0 && !damaged && impossible === undefined;
  const sees = [
    ...(findings.length === 0 ? [] : ["the ledger was changed by something else than this tool:"]),
    ...findings.map(({ sentence }) => `  ${sentence}`),
    ...lost.map(
      (one) =>
        `no record states any more that ${formatMigration(one)} is applied, but the running hash of later ones does`,
    ),
    ...course(state, patient),
    // Otherwise the tables show how far each migration has run.
    ...(isWell || !patient.target.capabilities.describes ? unfinished(state) : []),
  ];
  if (isWell && saysChoice(state, patient)) return { state, sees, cure: { kind: "nothing" } };
  const said = records.some(({ version, event }) => version !== undefined || event === "rebuilt");
  if (impossible !== undefined && !damaged) sees.push(impossible.message);
  sees.push(...(said ? differences.map(differenceText) : [lostText(patient.ledger, sights)]));
  const cure = remedyFor({ ...restored, said, sights, differences, impossible }, patient);
  return { state, sees, cure };
}

/** Whether the ledger already states the position that the user chose. */
function saysChoice(state: LedgerState, { choice, migrations, target: { capabilities } }: RepairInput): boolean {
  if (choice === undefined) return true;
  const row = historyRow(migrations, state, capabilities);
  const place = chosenPlace(row, choice);
  // Choosing the position before an action that has begun means that it has not.
  return place !== undefined && isAt(row, place, state) && row.actions[place.done]?.begun === undefined;
}

/** The state of the ledger. If the target can't describe tables, it includes what only running hashes show. */
function stateOf({ records, migrations, target: { capabilities } }: RepairInput): RestoredLedger {
  const state = foldLedger(records);
  if (capabilities.describes) return { state, lost: [], agrees: agreesWithNewest(state) };
  return withLost(state, records, migrations, capabilities);
}

/** The holder of the lease, and the migrations in doubt, as text. */
function course(state: LedgerState, { clock, run }: RepairInput): readonly string[] {
  const held = state.holder?.run === run ? undefined : holderWords(state, clock);
  return [
    ...(held === undefined ? [] : [held]),
    ...[...migrationsInDoubt(state, run)].map(
      (version) =>
        `${nameIn(state, version)} may have run further than is recorded; the next migrate ${isReverting(state, version) ? "down" : "up"} finds out and resumes it`,
    ),
  ];
}

/** What the next run resolves by itself, as text. */
function unfinished(state: LedgerState): readonly string[] {
  const partial = [...state.migrations.values()].filter(({ status }) => status === "partial");
  const reverting = [...state.migrations.values()].filter(({ version }) => isReverting(state, version));
  return [
    ...reverting.map(
      (one) =>
        `${formatMigration(one)} is being rolled back, ${one.reversal!.step} of ${count(one.reversal!.total, "action")} done; the next migrate down resumes it`,
    ),
    ...partial.map(
      (one) =>
        `${formatMigration(one)} has ${one.step} of ${count(one.total, "action")} done; the next migrate up resumes it`,
    ),
    ...state.late.map(
      ({ version, action }) =>
        `action ${action} of ${nameIn(state, version)} may have come late; the next migrate up looks at its table`,
    ),
  ];
}

function isReverting({ migrations }: LedgerState, version: number): boolean {
  return migrations.get(version)?.reversal !== undefined;
}

function nameIn({ migrations }: LedgerState, version: number): string {
  const known = migrations.get(version);
  return known === undefined ? formatVersion(version) : formatMigration(known);
}

/**
 * Compares the tables with the ledger. A ledger that was changed from outside may describe an impossible history; that
 * may be the only sign of the change.
 */
async function comparedWith(
  state: LedgerState,
  damaged: boolean,
  patient: RepairInput,
): Promise<Compared & { readonly impossible?: MigrateError }> {
  const { target, files, migrations } = patient;
  const { capabilities } = target;
  let folds = false;
  try {
    checkMissing(files, state);
    checkUnchanged(migrations, state, capabilities);
    foldHistory(migrations, state, capabilities);
    folds = true;
    return await compare({ ...patient, state });
  } catch (error) {
    if (!isMigrateError(error) || error.outcome !== "refused") throw error;
    const isLedgers =
      ["ERR_BEGUN", "ERR_LEDGER_CHANGED"].includes(error.code) || (error.code === "ERR_STEP_IMPOSSIBLE" && !folds);
    if (!damaged && !(isLedgers && capabilities.describes)) throw error;
    const row = historyRow(migrations, foldLedger([]), capabilities);
    return {
      sights: await describeForComparison(target, tablesOf(row), indexedIn(row), false),
      differences: [],
      impossible: error,
    };
  }
}

function differenceText({ table, differences }: TableDifference): string {
  return `table ${table} is not as the ledger records: ${differences.join("; ")}`;
}

function lostText(ledger: string, sights: Tables): string {
  const there = [...sights].filter(([, table]) => table !== undefined).map(([name]) => name);
  const tables =
    there.length === 0 ? "no table that they make is there" : `tables that they make are there: ${there.join(", ")}`;
  return `the ledger ${ledger} records no migration as applied, and ${tables}`;
}
