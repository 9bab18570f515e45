/** What is applied, what is pending, and every record of the ledger. Changes nothing. */
import { systemClock } from "../time/clock.ts";
import { isMigrateError } from "../errors/migrate-error.ts";
import { appliedIn, foldLedger, type LateCall, type LedgerMigration, type LedgerState } from "../ledger/state/fold.ts";
import { journalOf } from "../ledger/journal/open-journal.ts";
import { byPlace, type LedgerRecord } from "../ledger/state/record.ts";
import type { MigrationName } from "../migrations/file-name.ts";
import type { MigrationFile } from "../migrations/list-files.ts";
import { begunElsewhere, checkUnchanged, missingFiles, pendingFiles } from "../plan/history/pending.ts";
import { recognisedState } from "../run/prepare/record-renumbered.ts";
import { contradiction } from "../run/lease/audited-ledger.ts";
import { holderWords, isSilent } from "../run/lease/describe-holder.ts";
import type { MigratorOptions } from "../run/options.ts";
import { loadChanged } from "../run/prepare/load-changed.ts";

export interface StatusResult {
  readonly applied: readonly LedgerMigration[];
  /** Being taken back: the next `down` goes on. */
  readonly reverting: readonly LedgerMigration[];
  readonly pending: readonly (MigrationFile & { readonly partial: LedgerMigration | undefined })[];
  /** Applied or half-done, but their files are not here: a newer release has run, or they are lost. */
  readonly missing: readonly LedgerMigration[];
  /** Begun, or may have, and their files are not here: `up` refuses. What a holder that is still heard of is at is not among them. */
  readonly begun: readonly Begun[];
  /** Applied or begun, and their files do something else now: `up` refuses. */
  readonly changed: readonly (MigrationName & { readonly problem: string })[];
  /** Who holds the lease. */
  readonly holder: string | undefined;
  /** Since when nothing was heard of the holder, and what follows from that, in plain words. */
  readonly lease: string | undefined;
  /** Calls that may have come after their lease: the next `up` looks at their tables first. */
  readonly late: readonly LateCall[];
  /** Why the ledger is not to be believed. */
  readonly problem: string | undefined;
}

export interface Begun extends Pick<LedgerMigration, "version"> {
  /** What the ledger says of it; undefined where a run turned to it and was never heard of again. */
  readonly known: LedgerMigration | undefined;
}

/** What is applied and what is pending. Evaluates only files whose text is not the one that ran. */
export async function status(options: MigratorOptions): Promise<StatusResult> {
  const { target, ledger, migrations: source, clock = systemClock } = options;
  const files = source.list();
  const journal = journalOf(target, ledger, options.clock);
  const told = foldLedger(await journal.read());
  const state = await recognisedState(told, files, options).catch(() => told);
  const atWork = isSilent(state, clock) ? undefined : state.holder?.next;
  const begun = begunElsewhere(files, state).filter((version) => version !== atWork);
  return {
    applied: appliedIn(state),
    reverting: [...state.migrations.values()].filter(({ reversal }) => reversal !== undefined),
    pending: pendingFiles(files, state).map((file) => ({ ...file, partial: state.migrations.get(file.version) })),
    missing: missingFiles(files, state).filter(
      ({ status: is, version }) => is === "applied" || begun.includes(version),
    ),
    begun: begun.map((version) => ({ version, known: state.migrations.get(version) })),
    changed: await changedFiles(options, files, state),
    holder: state.holder?.by,
    lease: holderWords(state, clock),
    late: state.late,
    problem: (await contradiction(journal, state))?.message,
  };
}

/** Every record of the ledger in its order. */
export async function history(options: MigratorOptions): Promise<readonly LedgerRecord[]> {
  return (await journalOf(options.target, options.ledger, options.clock).read()).toSorted(byPlace);
}

/** The files that `up` refuses because they were changed after they had run. */
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
