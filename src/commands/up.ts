/**
 * Applies migrations. Read this file first: a run compares the files with the ledger, plans, takes the lease, plans
 * again and executes.
 */
import { appliedHash } from "../ledger/state/applied-hash.ts";
import { appliedIn } from "../ledger/state/fold.ts";
import { isAtRest, sameRecord, type Journal, type LedgerHead } from "../ledger/journal/journal.ts";
import { saysApplied } from "../ledger/state/record.ts";
import { matchesHash } from "../migrations/checksum.ts";
import type { MigrationFile } from "../migrations/list-files.ts";
import {
  begunElsewhere,
  checkBegun,
  checkNotReverting,
  checkUnchanged,
  chosenFiles,
  missingFiles,
  pendingFiles,
  type Choice,
} from "../plan/history/pending.ts";
import { acceptedOf, checkRefusals } from "../plan/assess/guards.ts";
import { recordRecognised, areFormer } from "../run/prepare/record-renumbered.ts";
import { plannedEvent } from "../run/events.ts";
import { execute } from "../run/execute/execute.ts";
import { checkLateCalls } from "../run/execute/late-calls.ts";
import { openingEntries, planPending, planUnlessMoved } from "../run/prepare/plan-run.ts";
import { runContext } from "../run/run-context.ts";
import { bindingOf } from "../run/prepare/bind-saved-plan.ts";
import type { MigratorOptions } from "../run/options.ts";
import { withLease } from "../run/lease/with-lease.ts";
import { loadChanged } from "../run/prepare/load-changed.ts";
import { withGuards, type UpChoice } from "./plan.ts";

export interface UpResult {
  /** How many migrations were applied. */
  readonly applied: number;
  /** How many migrations are applied now. */
  readonly total: number;
}

/** Applies pending migrations. When it throws a MigrateError, the ledger records what was done until then. */
export async function up(options: MigratorOptions, { plan: saved, ...given }: UpChoice = {}): Promise<UpResult> {
  const context = runContext(options);
  const { target, ledger, journal, migrations: source, signal, emit, clock } = context;
  const choice: Choice = saved?.choice ?? given;
  const started = clock.steady();
  const finish = (result: UpResult): UpResult => {
    emit({ event: "finished", applied: result.applied, duration: Math.round(clock.steady() - started) });
    return result;
  };
  const binding = bindingOf(saved, "up", context);
  // A planned migration whose file is missing would look like nothing to do. Without a saved plan nothing is awaited
  // here: the simulator relies on when a run makes its first call.
  if (saved !== undefined) await binding.checkFiles();
  const files = source.list();
  const chosen = chosenFiles(files, choice);
  if (saved === undefined && (await nothingPending(journal, files))) return finish({ applied: 0, total: files.length });
  if (saved === undefined && areFormer(files)) await recordRecognised(context, files);

  let heard: LedgerHead | undefined;
  const result = await withLease(context, {
    async settled({ records, state }) {
      binding.checkLedger(records);
      checkNotReverting(state);
      if (pendingFiles(chosen, state).length > 0 || state.late.length > 0) return undefined;
      checkBegun(files, state, state.holder?.next);
      // A holder at a migration whose file is not here may be dead. Wait until one more record shows that it is not.
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
    async prepare({ records, state }) {
      const input = { context, files, records, state, choice, besideAnother: false };
      const planned = await binding.keep(() => planUnlessMoved(input, planPending));
      if (planned === undefined) return undefined;
      const { migrations } = planned;
      const plan = await withGuards(planned.plan, context, choice);
      checkRefusals(plan, target.name);
      return {
        first: plan.migrations[0]?.migration.version,
        async act(lease) {
          emit(plannedEvent(plan, "up"));
          const opening = [
            ...(await checkLateCalls(state.late, { emit, target, clock, lease, plan, state, migrations })),
            ...openingEntries(migrations, state, plan),
            ...binding.opening(plan.migrations[0]?.migration.version),
          ];
          if (opening.length > 0) await lease.record(opening);
          const applied = await execute(plan.migrations, {
            target,
            ledger,
            lease,
            clock,
            emit,
            signal,
            bound: binding.tables,
            mayBeLost: ({ migration }) =>
              options.guards === undefined || acceptedOf(migration, options.guards, choice.accept).has("irreversible"),
          });
          return { applied, total: appliedIn(state).length + applied };
        },
      };
    },
  });
  return finish(result);
}

/** Whether the newest record alone shows that nothing is pending. If false, the whole ledger must be read. */
async function nothingPending(journal: Journal, files: readonly MigrationFile[]): Promise<boolean> {
  if (files.length === 0) return false;
  const head = await journal.head();
  return head !== undefined && isAtRest(head) && matchesHash(appliedHash(files).value, head.applied);
}
