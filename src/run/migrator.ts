/**
 * The story of a run. Read this file first: compare the files with the ledger, plan, take the lease, look again, act.
 */
import { appliedHash } from "../ledger/applied-hash.ts";
import { systemClock } from "../clock.ts";
import { isMigrateError } from "../errors.ts";
import { appliedIn, foldLedger, type LateCall, type LedgerMigration, type LedgerState } from "../ledger/fold.ts";
import { isAtRest, sameRecord, type Journal, type LedgerHead } from "../ledger/journal.ts";
import { journalOf } from "../ledger/journals.ts";
import { byPlace, saysApplied, type LedgerRecord } from "../ledger/record.ts";
import { matchesHash } from "../migrations/checksum.ts";
import type { MigrationName } from "../migrations/file-name.ts";
import type { MigrationFile } from "../migrations/files.ts";
import type { Migration } from "../migrations/load.ts";
import { loadMigrations, type MigrationSource } from "../migrations/source.ts";
import {
  begunElsewhere,
  checkBegun,
  checkNotReverting,
  checkUnchanged,
  chosenFiles,
  missingFiles,
  pendingFiles,
  type Choice,
} from "../plan/history.ts";
import { asTheyRan } from "../plan/recognise.ts";
import { acceptedOf, checkRefusals, withRefusals } from "../plan/guards.ts";
import type { Plan } from "../plan/plan.ts";
import type { SavedPlan } from "../plan/saved-plan.ts";
import { recordRecognised, recognisedState, areFormer, checkRecorded } from "./recognise.ts";
import { contradiction } from "./audited.ts";
import { plannedEvent } from "./events.ts";
import { execute } from "./executor.ts";
import { holderWords, isSilent } from "./holder.ts";
import { withKnownFailures } from "./known-failures.ts";
import { lookAtLate } from "./late.ts";
import { openingEntries, planNow, planPending, planUnlessMoved, type Planned } from "./planning.ts";
import { costs } from "./survey.ts";
import { thisRunner } from "./runner.ts";
import { askRecovery } from "./recovery.ts";
import { bind, bindingOf } from "./saved-plan.ts";
import type { MigratorOptions } from "./options.ts";
import { underLease, type Ledger } from "./under-lease.ts";

export interface UpChoice extends Choice {
  /** Carry out just this plan, or nothing. */
  readonly plan?: SavedPlan | undefined;
}

export interface UpResult {
  /** How many migrations were applied. */
  readonly applied: number;
  /** How many are applied now. */
  readonly total: number;
}

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

/** Applies what is pending. Throws a MigrateError; by then as much is done as the ledger says. */
export async function up(options: MigratorOptions, { plan: saved, ...given }: UpChoice = {}): Promise<UpResult> {
  const {
    target,
    ledger,
    migrations: source,
    signal,
    emit = () => {},
    clock = systemClock,
    runner = thisRunner(),
  } = options;
  const choice: Choice = saved?.choice ?? given;
  const started = clock.steady();
  const finish = (result: UpResult): UpResult => {
    emit({ event: "finished", applied: result.applied, duration: Math.round(clock.steady() - started) });
    return result;
  };
  const journal = journalOf(options.target, options.ledger, options.clock);
  const binding = bindingOf(saved, "up", journal, { ...options, runner });
  // What is missing would look like nothing to do. A run without a plan does not wait here: the simulator counts on its first call.
  if (saved !== undefined) await binding.checkFiles();
  const files = source.list();
  const chosen = chosenFiles(files, choice);
  if (saved === undefined && (await nothingPending(journal, files))) return finish({ applied: 0, total: files.length });
  if (saved === undefined && areFormer(files)) await recordRecognised(options, files);

  let heard: LedgerHead | undefined;
  const result = await underLease(
    journal,
    { ...options, runner },
    {
      async settled({ records, state }) {
        binding.checkLedger(records);
        checkNotReverting(state);
        if (pendingFiles(chosen, state).length > 0 || state.late.length > 0) return undefined;
        checkBegun(files, state, state.holder?.next);
        // A holder whose file is not here may be dead. One more record shows that it is not.
        heard ??= state.head;
        if (begunElsewhere(files, state).length > 0 && sameRecord(heard, state.head)) return undefined;
        checkUnchanged(await loadChanged(source, files, state), state, target.capabilities);
        const missing = missingFiles(files, state).map(({ version, name }) => ({ version, name }));
        if (missing.length > 0) emit({ event: "missing", migrations: missing });
        return { applied: 0, total: appliedIn(state).length };
      },
      until(state) {
        const last = pendingFiles(chosen, state).at(-1)?.version;
        if (last === undefined) return state.late.length > 0 ? undefined : () => true;
        return (seen) => saysApplied(seen) && (seen.version ?? 0) >= last;
      },
      async prepare({ state }) {
        const input = { target, ledger, source, files, state, choice, run: runner.run, besideAnother: false };
        const planned = await binding.keep(() => planUnlessMoved(journal, input, planPending));
        if (planned === undefined) return undefined;
        const { migrations } = planned;
        const plan = await guarded(planned.plan, options, choice);
        checkRefusals(plan, target.name);
        return {
          first: plan.migrations[0]?.migration.version,
          async act(lease) {
            emit(plannedEvent(plan, "up"));
            const opening = [
              ...(await lookAtLate(state.late, { emit, target, clock, lease, plan, state, migrations })),
              ...openingEntries(migrations, state, plan),
              ...binding.opening(plan.migrations[0]?.migration.version),
            ];
            if (opening.length > 0) await lease.record(opening);
            const recovery = await askRecovery(plan, target, lastOf(state), clock);
            const applied = await execute(plan.migrations, {
              target,
              ledger,
              lease,
              clock,
              emit,
              signal,
              bound: binding.tables,
              mayBeLost: ({ migration }) =>
                options.guards === undefined ||
                acceptedOf(migration, options.guards, choice.accept).has("irreversible"),
            });
            if (applied > 0 && recovery !== undefined) emit({ event: "recovery", ...recovery });
            return { applied, total: appliedIn(state).length + applied };
          },
        };
      },
    },
  );
  return finish(result);
}

/** The migration that ran last. */
function lastOf(state: LedgerState): MigrationName | undefined {
  const [last] = appliedIn(state).toSorted((one, other) => other.order - one.order);
  return last && { version: last.version, name: last.name };
}

/** What `up` would do, against the tables as they are now; of a saved plan what it would do, if that still holds. Changes nothing. */
export async function plan(options: MigratorOptions, choice: UpChoice = {}): Promise<Plan> {
  return (await planOn(options, choice)).plan;
}

/** The same, to be carried out later just as it is. Throws what `up` would refuse. */
export async function savePlan(options: MigratorOptions, choice: Choice = {}): Promise<SavedPlan> {
  const { runner = thisRunner() } = options;
  await checkRecorded(options);
  return await bind(await planOn(options, choice, runner), "up", choice, options, runner);
}

/** A plan, and what it was made from. */
export interface PlannedOn extends Planned, Ledger {
  readonly files: readonly MigrationFile[];
}

export async function planOn(
  options: MigratorOptions,
  { plan: saved, ...given }: UpChoice,
  runner = thisRunner(),
): Promise<PlannedOn> {
  const { target, ledger, migrations: source } = options;
  const choice: Choice = saved?.choice ?? given;
  const journal = journalOf(target, ledger, options.clock);
  const binding = bindingOf(saved, "up", journal, { ...options, runner });
  await binding.checkFiles();
  const files = source.list();
  const made = await planNow(journal, options, files, async ({ records, state }, besideAnother) => {
    binding.checkLedger(records);
    const input = { target, ledger, source, files, state, choice, run: runner.run, besideAnother };
    return await binding.keep(() => planUnlessMoved(journal, input, planPending));
  });
  return { ...made, files, plan: await guarded(made.plan, options, choice) };
}

async function guarded(plan: Plan, { guards, target }: MigratorOptions, { accept }: Choice): Promise<Plan> {
  const limited = guards?.maxRewriteBytes === undefined ? undefined : await costs(plan, target);
  return await withKnownFailures(guards === undefined ? plan : withRefusals(plan, guards, accept, limited), target);
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

/** The quick answer: the newest record's running hash is that of the files. Anything else takes the long way. */
async function nothingPending(journal: Journal, files: readonly MigrationFile[]): Promise<boolean> {
  if (files.length === 0) return false;
  const head = await journal.head();
  return head !== undefined && isAtRest(head) && matchesHash(appliedHash(files).value, head.applied);
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

/** The migrations that have run whose text is not the one that ran. */
async function loadChanged(
  source: MigrationSource,
  files: readonly MigrationFile[],
  state: LedgerState,
): Promise<readonly Migration[]> {
  const { migrations } = state;
  const loaded = await loadMigrations(
    source,
    files.filter(({ version, textHash }) => {
      const known = migrations.get(version);
      return known !== undefined && !matchesHash(textHash, known.textHash);
    }),
  );
  return asTheyRan(loaded, state);
}
