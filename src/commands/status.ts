/** Which migrations are applied and pending, and all records of the ledger. Changes nothing. */
import { isMigrateError, problemIn } from "../errors/migrate-error.ts";
import { foldLedger } from "../ledger/state/fold.ts";
import {
  appliedIn,
  groupInDoubt,
  migrationsInDoubt,
  type LateCall,
  type LedgerState,
} from "../ledger/state/ledger-state.ts";
import type { LedgerMigration } from "../ledger/state/fold-migration.ts";
import { byPlace, type LedgerRecord } from "../ledger/state/record.ts";
import type { MigrationName } from "../migrations/file-name.ts";
import type { MigrationFile } from "../migrations/list-files.ts";
import {
  begunElsewhere,
  checkMissing,
  checkUnchanged,
  missingFiles,
  orderPending,
  pendingFiles,
} from "../plan/history/pending.ts";
import { recognisedState } from "../run/prepare/record-renumbered.ts";
import { lostLedger } from "../run/check/lost-ledger.ts";
import { placeIfNew } from "../run/check/new-database.ts";
import { contradiction } from "../run/lease/audited-ledger.ts";
import { phaseNow } from "../run/phase.ts";
import { doubtWords, holderWords, underWay } from "../run/lease/describe-holder.ts";
import type { Deferral } from "../run/deferral-text.ts";
import { listDeferred } from "../run/deferred/find-deferred.ts";
import type { PreparingColumn } from "../run/computed.ts";
import { type StaleColumn } from "../run/stale-text.ts";
import { computingOf, runContext, type MigratorOptions, type RunContext } from "../run/run-context.ts";
import { loadChanged } from "../run/prepare/load-changed.ts";
import { waysBack } from "../run/check/stopped-migrations.ts";

export interface StatusResult {
  readonly applied: readonly LedgerMigration[];
  /** Migrations that are being rolled back; the next `down` resumes. */
  readonly reverting: readonly LedgerMigration[];
  readonly pending: readonly PendingMigration[];
  /** Applied or begun migrations whose files are not here: a newer release has run, or the files are lost. */
  readonly missing: readonly LedgerMigration[];
  /**
   * Migrations that have begun, or may have, and whose files are not here: `up` refuses. The migration that a holder
   * with an unexpired lease is running is left out.
   */
  readonly begun: readonly Begun[];
  /** Applied or begun migrations whose files have other steps now: `up` refuses. */
  readonly changed: readonly (MigrationName & { readonly problem: string })[];
  /** The user, machine and process that hold the lease. */
  readonly holder: string | undefined;
  /** How long the holder has been silent and what follows from that, as text. */
  readonly lease: string | undefined;
  /** The migrations in doubt or under way, as text. */
  readonly doubts: readonly string[];
  /** Late calls; the next `up` checks their tables first. */
  readonly late: readonly LateCall[];
  /** The indexes that wait until their tables hold enough vectors. */
  readonly deferred: readonly Deferral[];
  /** The watched columns with rows that lack a right value. */
  readonly stale: readonly StaleColumn[];
  /** Why `up` refuses, apart from the above: the ledger can't be trusted, or the files do not fit what ran. */
  readonly problem: string | undefined;
  /** Where the database is, if it has no tables yet and a migration is pending. */
  readonly newDatabase: string | undefined;
}

export interface PendingMigration extends MigrationFile {
  readonly partial: LedgerMigration | undefined;
  /** Whether a run may have begun it without recording the outcome. */
  readonly inDoubt: boolean;
  /** Whether that run holds an unexpired lease. */
  readonly underWay: boolean;
  /** Whether it stopped between two commits of an action that can't be rolled back from there. */
  readonly isBetweenCommits: boolean;
  /** Why `down` can't roll back what is done of it, as text. */
  readonly irreversible: string | undefined;
  /** The columns that `migrate prepare` has begun to prepare for it. */
  readonly preparing: readonly PreparingColumn[];
}

export interface Begun extends Pick<LedgerMigration, "version"> {
  /** What the ledger records of it; undefined if a run turned to it and recorded nothing since. */
  readonly known: LedgerMigration | undefined;
}

/** Evaluates only files whose text differs from the one that ran, and those of migrations that stopped in an action. */
export async function status(options: MigratorOptions): Promise<StatusResult> {
  const context = runContext(options);
  const { journal, clock, runner } = context;
  const files = context.migrations.list();
  const records = await journal.read();
  const { state, problem } = await recognised(foldLedger(records), files, context);
  const atWork = underWay(state, clock);
  const inDoubt = migrationsInDoubt(state, runner.run);
  const pending = pendingFiles(files, state);
  const computing = await computingOf(context);
  const preparing = await computing.preparingColumns(context, pending, atWork);
  const back = await ifLoaded(() => waysBack(context, files, state));
  const begun = begunElsewhere(files, state).filter((version) => !atWork.includes(version));
  return {
    applied: appliedIn(state),
    reverting: [...state.migrations.values()].filter(({ reversal }) => reversal !== undefined),
    pending: pending.map((file) => ({
      ...file,
      preparing: preparing.get(file.version) ?? [],
      partial: state.migrations.get(file.version),
      inDoubt: inDoubt.has(file.version),
      underWay: atWork.includes(file.version),
      isBetweenCommits:
        state.migrations.get(file.version)?.midway !== undefined && back?.stopped.has(file.version) !== true,
      irreversible: back?.irreversible.get(file.version),
    })),
    missing: missingFiles(files, state).filter(
      ({ status: is, version }) => is === "applied" || begun.includes(version),
    ),
    begun: begun.map((version) => ({ version, known: state.migrations.get(version) })),
    changed: await changedFiles(context, files, state),
    holder: state.holder?.by,
    lease: holderWords(state, clock),
    doubts: doubtWords(state, runner.run, clock, phaseNow(records)),
    late: state.late,
    deferred: await listDeferred(context, state),
    stale: (await ifLoaded(() => computing.listStale(context, state))) ?? [],
    problem:
      problem ??
      (await contradiction(context, state))?.message ??
      pendingProblem(files, state, inDoubt, runner.run) ??
      (await ifLoaded(() => lostLedger(context, state, files))),
    newDatabase: pending.length === 0 ? undefined : await placeIfNew(context, state),
  };
}

/** What `look` finds; undefined if the files that it needs do not load, which the next `up` reports. */
async function ifLoaded<Found>(look: () => Promise<Found>): Promise<Found | undefined> {
  try {
    return await look();
  } catch (error) {
    if (!isMigrateError(error) || !["refused", "usage"].includes(error.outcome)) throw error;
    return undefined;
  }
}

/** The state under the current names; as recorded if `up` would refuse to record these. */
export async function recognised(recorded: LedgerState, files: readonly MigrationFile[], context: RunContext) {
  try {
    return { state: await recognisedState(recorded, files, context) };
  } catch (error) {
    if (!isMigrateError(error) || error.outcome !== "refused") throw error;
    return { state: recorded, problem: error.message };
  }
}

/** All records of the ledger, in their order. */
export async function history(options: MigratorOptions): Promise<readonly LedgerRecord[]> {
  return (await runContext(options).journal.read()).toSorted(byPlace);
}

/** The migrations in doubt or under way by these records, as text. */
export function doubtsIn(records: readonly LedgerRecord[], options: MigratorOptions): readonly string[] {
  const { runner, clock } = runContext(options);
  return doubtWords(foldLedger(records), runner.run, clock);
}

/** Why `up` refuses to run what is pending. What has begun is reported separately. */
function pendingProblem(
  files: readonly MigrationFile[],
  state: LedgerState,
  inDoubt: ReadonlySet<number>,
  run: string,
): string | undefined {
  const problem = problemIn(() => {
    if (orderPending({ files, state, inDoubt, group: groupInDoubt(state, run), choice: {} }).length > 0)
      checkMissing(files, state);
  });
  const isReported =
    isMigrateError(problem, "ERR_BEGUN") ||
    (isMigrateError(problem, "ERR_MIGRATION_MISSING") && problem.details.begun === true);
  return isReported ? undefined : problem?.message;
}

async function changedFiles(
  { migrations: source, target }: MigratorOptions,
  files: readonly MigrationFile[],
  state: LedgerState,
): Promise<StatusResult["changed"]> {
  const changed: (MigrationName & { readonly problem: string })[] = [];
  for (const file of files)
    try {
      checkUnchanged(await loadChanged(source, [file], state), state, target.capabilities);
    } catch (error) {
      if (!isMigrateError(error)) throw error;
      changed.push({ version: file.version, name: file.name, problem: error.message });
    }
  return changed;
}
