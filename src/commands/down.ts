/** Rolls migrations back. A run of `down` proceeds like one of `up`; see up.ts. */
import { MigrateError } from "../errors/migrate-error.ts";
import { appliedIn, migrationsInDoubt } from "../ledger/state/fold.ts";
import type { MigrationFile } from "../migrations/list-files.ts";
import { checkNothingHalfDone, orderBack, type BackChoice } from "../plan/history/select-rollback.ts";
import { checkRefusals } from "../plan/assess/guards.ts";
import { checkMissing } from "../plan/history/pending.ts";
import { keepingValues, restoringAfter } from "../plan/assess/blocking-rows.ts";
import type { Plan } from "../plan/make-plan.ts";
import type { SavedPlan } from "../plan/assess/saved-plan.ts";
import { recordRecognised, areFormer, checkRecorded } from "../run/prepare/record-renumbered.ts";
import { plannedEvent } from "../run/events.ts";
import { execute } from "../run/execute/execute.ts";
import { withObstacles, type Consent } from "../run/check/find-blocking-rows.ts";
import { othersInTheWay } from "../run/check/changes-by-others.ts";
import { recreatedTables } from "../run/check/table-identity.ts";
import { checkLateCalls } from "../run/execute/late-calls.ts";
import { lateWrites } from "../run/execute/late-writes.ts";
import type { MigratorOptions } from "../run/options.ts";
import { planChosen, planNow, planUnlessMoved, type Planned } from "../run/prepare/plan-run.ts";
import { runContext, type RunContext } from "../run/run-context.ts";
import { bind, bindingOf, boundTables } from "../run/prepare/bind-saved-plan.ts";
import { touchedTables } from "../plan/reconcile/reconcile.ts";
import { unbegun } from "../run/prepare/unstarted-migrations.ts";
import { withLease, type Ledger } from "../run/lease/with-lease.ts";

export interface DownChoice extends BackChoice, Consent {
  /** Executes exactly this plan, or nothing if it no longer holds. */
  readonly plan?: SavedPlan | undefined;
}

export interface DownResult {
  /** How many migrations were rolled back. */
  readonly reverted: number;
  /** How many migrations are applied now. */
  readonly total: number;
}

/** Rolls back what ran last. When it throws a MigrateError, the ledger records what was done until then. */
export async function down(options: MigratorOptions, { plan: saved, ...given }: DownChoice = {}): Promise<DownResult> {
  const context = runContext(options);
  const { target, migrations: source, ledger, signal, emit, clock, runner } = context;
  const choice: DownChoice = saved?.choice ?? given;
  checkConsent(choice);
  const started = clock.steady();
  const binding = bindingOf(saved, "down", context);
  // A planned migration whose file is missing would look like nothing to do. Without a saved plan nothing is awaited
  // here: the simulator relies on when a run makes its first call.
  if (saved !== undefined) await binding.checkFiles();
  const files = source.list();
  if (saved === undefined && areFormer(files)) await recordRecognised(context, files);
  const result = await withLease(context, {
    async settled({ records, state }) {
      binding.checkLedger(records);
      const isNothing = orderBack(state, files, choice).length === 0;
      // A migration in doubt may have run, and would then be among those to roll back.
      const isSettled = state.late.length === 0 && migrationsInDoubt(state, runner.run).size === 0;
      return isNothing && isSettled ? { reverted: 0, total: appliedIn(state).length } : undefined;
    },
    async prepare({ records, state }) {
      const planned = await binding.keep(() => planBack(files, { records, state }, choice, context, false));
      if (planned === undefined) return undefined;
      const { plan, migrations, seen, notBegun = [] } = planned;
      checkRefusals(plan, target.name);
      const late = choice.acceptLoss === true ? undefined : lateWrites(target, seen ?? {});
      return {
        // No migration is in doubt until a record states that its rollback has begun.
        first: undefined,
        async act(lease) {
          emit(plannedEvent(plan, "down"));
          for (const words of plan.accepted ?? []) emit({ event: "accepted", words });
          const opening = [
            ...(await checkLateCalls(state.late, { emit, target, clock, lease, plan, state, migrations })),
            ...notBegun,
            ...binding.opening(undefined),
          ];
          const back = new Set(plan.migrations.map(({ migration }) => migration.version));
          const total = appliedIn(state).filter(({ version }) => !back.has(version)).length;
          if (back.size === 0) {
            await lease.release(opening);
            return { reverted: 0, total };
          }
          if (opening.length > 0) await lease.record(opening);
          const execution = { target, ledger, lease, clock, emit, signal, lateWrites: late, bound: binding.tables };
          return { reverted: await execute(plan.migrations, execution), total };
        },
      };
    },
  });
  emit({ event: "finished", reverted: result.reverted, duration: Math.round(clock.steady() - started) });
  return result;
}

/**
 * Plans `down` against the current tables. Given a saved plan, throws ERR_PLAN_STALE if that plan no longer holds.
 * Changes nothing.
 */
export async function planDown(options: MigratorOptions, choice: DownChoice = {}): Promise<Plan> {
  return (await planDownNow(runContext(options), choice)).plan;
}

/** Plans `down` so that exactly this plan can be executed later. */
export async function savePlanDown(
  options: MigratorOptions,
  choice: Omit<DownChoice, "plan"> = {},
): Promise<SavedPlan> {
  const context = runContext(options);
  await checkRecorded(context);
  const plan = async () => await planDownNow(context, choice);
  const first = await plan();
  if (choice.acceptLoss !== true) return await bind(first, "down", choice, context);
  // The plan is bound to table versions that are read before it counts the lost rows. Rows that are written in between
  // then make the plan stale; they can't be lost without having been counted.
  const tables = await boundTables(first.plan, options.target);
  return await bind(await plan(), "down", choice, context, tables);
}

async function planDownNow(context: RunContext, { plan: saved, ...given }: DownChoice) {
  const choice: DownChoice = saved?.choice ?? given;
  checkConsent(choice);
  const binding = bindingOf(saved, "down", context);
  await binding.checkFiles();
  const files = context.migrations.list();
  return await planNow(context, files, async ({ records, state }, besideAnother) => {
    binding.checkLedger(records);
    return await binding.keep(() => planBack(files, { records, state }, choice, context, besideAnother));
  });
}

function checkConsent({ acceptLoss, keepAppended }: Consent): void {
  if (acceptLoss === true && keepAppended === true)
    throw new MigrateError("ERR_USAGE", { problem: "acceptLoss and keepAppended say two things; use one of them" });
}

async function planBack(
  files: readonly MigrationFile[],
  { records, state }: Ledger,
  choice: DownChoice,
  context: RunContext,
  besideAnother: boolean,
): Promise<Planned | undefined> {
  const { target, runner } = context;
  const input = { context, files, records, state, besideAnother };
  return await planUnlessMoved(input, async () => {
    checkMissing(files, state);
    checkNothingHalfDone(state, migrationsInDoubt(state, runner.run), target.capabilities);
    const notBegun = await unbegun(input);
    const planned = await planChosen(orderBack(state, files, choice), "down", input, choice.acceptLoss !== true);
    // Read the versions before asking about rows: later writes may be missing from the answers.
    const seen: Record<string, number | null> = {};
    for (const table of touchedTables(planned.plan)) seen[table] = (await target.describeTable(table))?.version ?? null;
    const recreated = await recreatedTables(planned.plan, target);
    const starts = Object.fromEntries(
      Object.entries(seen).map(([table, version]) => [table, [version, null] as const]),
    );
    const started = planned.plan.migrations.map((one) => restoringAfter(one, one.startedAt ?? starts));
    const asked = { ...planned.plan, migrations: started };
    const plan = choice.keepAppended === true ? asked : keepingValues(asked);
    const others = [...recreated, ...(await othersInTheWay(plan, target))];
    return { ...planned, plan: await withObstacles(plan, target, choice, others), seen, notBegun };
  });
}
