/** Plans `up`. Changes nothing. */
import type { MigrationFile } from "../migrations/list-files.ts";
import type { Choice } from "../plan/history/pending.ts";
import { withRefusals } from "../plan/assess/guards.ts";
import type { Plan } from "../plan/make-plan.ts";
import type { SavedPlan } from "../plan/assess/saved-plan.ts";
import { checkRecorded } from "../run/prepare/record-renumbered.ts";
import { withKnownFailures } from "../run/prepare/find-known-failures.ts";
import { planNow, planPending, planUnlessMoved, type Planned } from "../run/prepare/plan-run.ts";
import { costs } from "../run/prepare/estimate.ts";
import { bind, bindingOf } from "../run/prepare/bind-saved-plan.ts";
import type { MigratorOptions } from "../run/options.ts";
import { runContext, type RunContext } from "../run/run-context.ts";
import type { Ledger } from "../run/lease/with-lease.ts";

export interface UpChoice extends Choice {
  /** Executes exactly this plan, or nothing if it no longer holds. */
  readonly plan?: SavedPlan | undefined;
}

/**
 * Plans `up` against the current tables. Given a saved plan, throws ERR_PLAN_STALE if that plan no longer holds.
 * Changes nothing.
 */
export async function plan(options: MigratorOptions, choice: UpChoice = {}): Promise<Plan> {
  return (await planOn(runContext(options), choice)).plan;
}

/** Plans `up` so that exactly this plan can be executed later. Throws if `up` would refuse it. */
export async function savePlan(options: MigratorOptions, choice: Choice = {}): Promise<SavedPlan> {
  const context = runContext(options);
  await checkRecorded(context);
  return await bind(await planOn(context, choice), "up", choice, context);
}

/** A plan with the ledger and the files that it was made from. */
export interface PlannedOn extends Planned, Ledger {
  readonly files: readonly MigrationFile[];
}

export async function planOn(context: RunContext, { plan: saved, ...given }: UpChoice): Promise<PlannedOn> {
  const choice: Choice = saved?.choice ?? given;
  const binding = bindingOf(saved, "up", context);
  await binding.checkFiles();
  const files = context.migrations.list();
  const made = await planNow(context, files, async ({ records, state }, besideAnother) => {
    binding.checkLedger(records);
    const input = { context, files, records, state, choice, besideAnother };
    return await binding.keep(() => planUnlessMoved(input, planPending));
  });
  return { ...made, files, plan: await withGuards(made.plan, context, choice) };
}

export async function withGuards(plan: Plan, { guards, target }: MigratorOptions, { accept }: Choice): Promise<Plan> {
  const limited = guards?.maxRewriteBytes === undefined ? undefined : await costs(plan, target);
  return await withKnownFailures(guards === undefined ? plan : withRefusals(plan, guards, accept, limited), target);
}
