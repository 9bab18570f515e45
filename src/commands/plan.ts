/** Plans a run against the current tables, and saves plans. Changes nothing. */
import { acceptsLoss } from "../migrations/acceptance.ts";
import type { Choice, RunChoice } from "../plan/history/pending.ts";
import type { GroupedPlan } from "../plan/group/group-migrations.ts";
import type { Plan } from "../plan/make-plan.ts";
import type { SavedPlan } from "../plan/document/saved-plan.ts";
import { bind, boundTables } from "../run/prepare/bind-saved-plan.ts";
import { checkRecorded } from "../run/prepare/record-renumbered.ts";
import { runContext, type MigratorOptions } from "../run/run-context.ts";
import { downRun, type DownChoice } from "./down.ts";
import { nothingPlanned, planOn, type RunKind, type RunOptions } from "./run.ts";
import { withLast } from "./limit-steps.ts";
import type { UpChoice } from "./up.ts";
import { upRun } from "./up-rules.ts";

type SavedChoice = Choice & Pick<RunChoice, "steps">;

/** Plans `up`. Given a saved plan, throws ERR_PLAN_STALE if that plan no longer holds. */
export async function plan(options: MigratorOptions, choice: UpChoice = {}): Promise<GroupedPlan> {
  return (await planOn(runContext(options), upRun, await withLast(options, choice))).plan;
}

/** The same to be shown: if nothing is pending, no migration is evaluated, and `now` is empty. */
export async function planToShow(options: MigratorOptions, choice: UpChoice = {}): Promise<GroupedPlan> {
  const kind = choice.plan === undefined ? upRunIfPending : upRun;
  return (await planOn(runContext(options), kind, await withLast(options, choice))).plan;
}

const upRunIfPending: typeof upRun = {
  ...upRun,
  rules(choice, context, files) {
    const rules = upRun.rules(choice, { ...context, emit: () => {} }, files);
    return {
      ...rules,
      plan: async (input) => ((await rules.isNothing(input)) ? nothingPlanned : await rules.plan(input)),
    };
  },
};

/** Plans `down`. Given a saved plan, throws ERR_PLAN_STALE if that plan no longer holds. */
export async function planDown(options: MigratorOptions, choice: DownChoice = {}): Promise<Plan> {
  return (await planOn(runContext(options), downRun, choice)).plan;
}

/** Plans `up` so that exactly this plan can be executed later. Throws if `up` would refuse it. */
export async function savePlan(options: MigratorOptions, choice: SavedChoice = {}): Promise<SavedPlan> {
  return await saved(options, upRun, await withLast(options, choice));
}

/** Plans `down` so that exactly this plan can be executed later. */
export async function savePlanDown(
  options: MigratorOptions,
  choice: Omit<DownChoice, "plan"> = {},
): Promise<SavedPlan> {
  return await saved(options, downRun, choice);
}

async function saved<Chosen extends SavedPlan["choice"]>(
  options: MigratorOptions,
  kind: RunKind<Chosen>,
  choice: RunOptions<Chosen>,
): Promise<SavedPlan> {
  const { direction } = kind;
  const context = runContext(options);
  await checkRecorded(context);
  const first = await planOn(context, kind, choice);
  if (direction === "up" || !acceptsLoss(choice)) return await bind(first, direction, choice, context);
  // The plan is bound to table versions that are read before it counts the lost rows. Rows that are written in between
  // then make the plan stale; they can't be lost without having been counted.
  const tables = await boundTables(first.plan, context.target);
  return await bind(await planOn(context, kind, choice), direction, choice, context, tables);
}
