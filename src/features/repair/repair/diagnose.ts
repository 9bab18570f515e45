/** Finds what is wrong with the ledger, and the remedy. Changes nothing. */
import { count, isMigrateError, type MigrateError } from "../../../errors/migrate-error.ts";
import { auditLedger } from "../../../ledger/audit/audit.ts";
import { agreesWithNewest } from "../../../ledger/audit/audit-applied.ts";
import { foldLedger } from "../../../ledger/state/fold.ts";
import { groupInDoubt, type LedgerState } from "../../../ledger/state/ledger-state.ts";
import type { LedgerMigration } from "../../../ledger/state/fold-migration.ts";
import { formatMigration, formatVersion } from "../../../migrations/file-name.ts";
import { checkFilesOfRan } from "../../../plan/history/pending.ts";
import { replayHistory } from "../../../plan/history/replay.ts";
import { chosenPlace, isAt } from "./chosen-position.ts";
import type { TableDifference } from "../../../plan/history/table-drift.ts";
import { historyLine, indexedIn, tablesOfHistory } from "../../../plan/history/timeline.ts";
import { withLost, type RestoredLedger } from "./lost-records.ts";
import type { Tables } from "../../../schema/table.ts";
import { compareWithLedger, type Compared } from "../../../run/prepare/compare-with-ledger.ts";
import { describeForComparison } from "../../../run/prepare/describe-tables.ts";
import { remedyFor, type Remedy, type RepairInput } from "./remedy.ts";
import { doubtWords, holderWords } from "../../../run/lease/describe-holder.ts";

export interface Diagnosis {
  readonly state: LedgerState;
  /** What was found, as text. */
  readonly sees: readonly string[];
  readonly remedy: Remedy;
}

export async function diagnose(input: RepairInput): Promise<Diagnosis> {
  const { records, journal } = input;
  const restored = stateOf(input);
  const { state, lost } = restored;
  const findings = auditLedger(records, journal.hashOf).filter(({ known }) => !known);
  const damaged = findings.length > 0;
  const { differences, described, impossible } = await comparedWith(state, damaged, input);
  const isSound = differences.length === 0 && !damaged && impossible === undefined;
  const sees = [
    ...(findings.length === 0 ? [] : ["the ledger was changed by something else than this tool:"]),
    ...findings.map(({ sentence }) => `  ${sentence}`),
    ...lost.map(
      (one) =>
        `no record states any more that ${formatMigration(one)} is applied, but the running hash of later ones does`,
    ),
    ...leaseAndDoubts(state, input),
    // Otherwise the tables show how far each migration has run.
    ...(isSound || !input.target.capabilities.describes ? unfinished(state, input) : []),
  ];
  if (isSound && isAtChoice(state, input)) return { state, sees, remedy: { kind: "nothing" } };
  const hasRecords = records.some(({ version, event }) => version !== undefined || event === "rebuilt");
  if (impossible !== undefined && !damaged) sees.push(impossible.message);
  sees.push(...(hasRecords ? differences.map(differenceText) : [lostText(input.ledger, described)]));
  const remedy = await remedyFor({ ...restored, hasRecords, damaged, described, differences, impossible }, input);
  return { state, sees, remedy };
}

/** Whether the ledger already states the position that the user chose. */
function isAtChoice(state: LedgerState, { choice, migrations, target: { capabilities } }: RepairInput): boolean {
  if (choice === undefined) return true;
  const row = historyLine(migrations, state, capabilities);
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
function leaseAndDoubts(state: LedgerState, { clock, runner: { run } }: RepairInput): readonly string[] {
  const held = state.holder?.run === run ? undefined : holderWords(state, clock);
  return [...(held === undefined ? [] : [held]), ...doubtWords(state, run, clock)];
}

/** What the next run resolves by itself, as text. */
function unfinished(state: LedgerState, { runner: { run } }: RepairInput): readonly string[] {
  const known = [...state.migrations.values()];
  const group = groupInDoubt(state, run);
  const partial = known.filter(({ status, version }) => status === "partial" && !group.has(version));
  const progress = ({ step, total }: Pick<LedgerMigration, "step" | "total">) =>
    `${step} of ${count(total, "action")} done`;
  return [
    ...known.flatMap((one) =>
      one.reversal === undefined
        ? []
        : `${formatMigration(one)} is being rolled back, ${progress(one.reversal)}; the next migrate down resumes it`,
    ),
    ...partial.map((one) => `${formatMigration(one)} has ${progress(one)}; the next migrate up resumes it`),
    ...state.late.map(
      ({ version, action }) =>
        `action ${action} of ${nameIn(state, version)} may have come late; the next migrate up looks at its table`,
    ),
  ];
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
  input: RepairInput,
): Promise<Compared & { readonly impossible?: MigrateError }> {
  const { target, files, migrations } = input;
  const { capabilities } = target;
  let isPossible = false;
  try {
    checkFilesOfRan(files, migrations, state, capabilities);
    replayHistory(migrations, state, capabilities);
    isPossible = true;
    return await compareWithLedger(input, state, migrations);
  } catch (error) {
    if (!isMigrateError(error) || error.outcome !== "refused") throw error;
    const isOfLedger =
      ["ERR_BEGUN", "ERR_LEDGER_CHANGED"].includes(error.code) || (error.code === "ERR_STEP_IMPOSSIBLE" && !isPossible);
    if (!damaged && !(isOfLedger && capabilities.describes)) throw error;
    const row = historyLine(migrations, foldLedger([]), capabilities);
    return {
      described: await describeForComparison(target, tablesOfHistory(row), indexedIn(row), false),
      differences: [],
      impossible: error,
    };
  }
}

function differenceText({ table, differences }: TableDifference): string {
  return `table ${table} is not as the ledger records: ${differences.join("; ")}`;
}

function lostText(ledger: string, described: Tables): string {
  const there = [...described].filter(([, table]) => table !== undefined).map(([name]) => name);
  const tables =
    there.length === 0 ? "no table that they make is there" : `tables that they make are there: ${there.join(", ")}`;
  return `the ledger ${ledger} records no migration as applied, and ${tables}`;
}
