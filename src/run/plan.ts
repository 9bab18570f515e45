/** What `up` would do. Changes nothing. */
import { journalOf } from "../ledger/journals.ts";
import type { MigrationFile } from "../migrations/files.ts";
import type { Choice } from "../plan/history.ts";
import { withRefusals } from "../plan/guards.ts";
import type { Plan } from "../plan/plan.ts";
import type { SavedPlan } from "../plan/saved-plan.ts";
import { checkRecorded } from "./recognise.ts";
import { withKnownFailures } from "./known-failures.ts";
import { planNow, planPending, planUnlessMoved, type Planned } from "./planning.ts";
import { costs } from "./survey.ts";
import { thisRunner } from "./runner.ts";
import { bind, bindingOf } from "./saved-plan.ts";
import type { MigratorOptions } from "./options.ts";
import type { Ledger } from "./under-lease.ts";

export interface UpChoice extends Choice {
  /** Carry out just this plan, or nothing. */
  readonly plan?: SavedPlan | undefined;
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
  return { ...made, files, plan: await withGuards(made.plan, options, choice) };
}

export async function withGuards(plan: Plan, { guards, target }: MigratorOptions, { accept }: Choice): Promise<Plan> {
  const limited = guards?.maxRewriteBytes === undefined ? undefined : await costs(plan, target);
  return await withKnownFailures(guards === undefined ? plan : withRefusals(plan, guards, accept, limited), target);
}
