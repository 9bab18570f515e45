/** The programming interface to the commands of `migrate`. */
import { must, yesOrNo, type Check, type Shape } from "../checks/check.ts";
import { MigrateError } from "../errors/migrate-error.ts";
import type { Choice, RunChoice } from "../plan/history/pending.ts";
import type { GroupedPlan } from "../plan/group/group-migrations.ts";
import type { Plan } from "../plan/make-plan.ts";
import { parseSavedPlan, type SavedPlan } from "../plan/document/saved-plan.ts";
import { down, type DownChoice, type DownResult } from "../commands/down.ts";
import { plan as planUp, planDown, savePlan, savePlanDown } from "../commands/plan.ts";
import { up, type UpChoice, type UpResult } from "../commands/up.ts";
import { status, type StatusResult } from "../commands/status.ts";
import type { Feature } from "../cli/command/feature.ts";
import * as features from "../features/index.ts";
import { stepsShape, to, upShape } from "../session/choice-shapes.ts";
import type { Config } from "./config.ts";
import { withGuardedEmit } from "./guard-emit.ts";
import type { MigratorOptions } from "../run/run-context.ts";
import { checkOptions, openSession, requireDatabase } from "../session/session.ts";
import type { SessionOptions } from "../session/session-options.ts";

const runShape: Shape<RunChoice> = { ...upShape, ...stepsShape, stepByStep: yesOrNo };
const downShape: Shape<Omit<DownChoice, "plan">> = {
  ...stepsShape,
  to,
  accept: upShape.accept,
  reinsert: yesOrNo,
};
const plan = { plan: must(() => true, "") };
const noPlan = { plan: must(() => false, "can't be given: a plan is made of migrations, not of another plan") };

/** The commands of `migrate`, for programs. */
export interface Migrator extends features.FeatureMembers {
  up(choice?: UpChoice): Promise<UpResult>;
  down(choice?: DownChoice): Promise<DownResult>;
  /** Plans `up`. Given a saved plan, it throws ERR_PLAN_STALE if that plan no longer holds. */
  plan(choice?: UpChoice): Promise<GroupedPlan>;
  /** Plans `down`. Blockers are not thrown: they are in the result's `blocked`. */
  planDown(choice?: DownChoice): Promise<Plan>;
  /** A plan that can be stored as JSON. `up({ plan })` executes exactly this plan, once. */
  savePlan(choice?: Choice & Pick<RunChoice, "steps">): Promise<SavedPlan>;
  savePlanDown(choice?: Omit<DownChoice, "plan">): Promise<SavedPlan>;
  status(): Promise<StatusResult>;
  /** Afterwards, all others throw ERR_USAGE. */
  close(): Promise<void>;
}

/** See open-migrator.ts. */
export async function openMigrator(wanted: SessionOptions, given?: Config): Promise<Migrator> {
  const session = await openSession(wanted, Object.values(features), given);
  const { options } = session;
  let isClosed = false;
  const requireOpen = () => {
    if (isClosed) throw new MigrateError("ERR_USAGE", { problem: "this migrator is closed; make another one" });
    requireDatabase(session);
  };
  /** The verb, which refuses options that `shape` does not accept. Throws ERR_USAGE. */
  const checked =
    <Given extends object, Result>(
      shape: Readonly<Record<string, Check>>,
      verb: (options: MigratorOptions, choice: Given) => Promise<Result>,
    ) =>
    async (choice: Given = {} as Given): Promise<Result> => {
      checkOptions(choice, shape);
      requireOpen();
      const { steps, to: last } = choice as DownChoice;
      if (steps !== undefined && last !== undefined)
        throw new MigrateError("ERR_USAGE", { problem: "steps and to can't be used together" });
      const planned = withPlan(choice);
      return await withGuardedEmit(options, (guarded) => verb(guarded, planned));
    };
  const members = await Promise.all(Object.values<Feature>(features).map(async (one) => await one.members?.()));
  const added: unknown = Object.fromEntries(
    members.flatMap((some = {}) => Object.entries(some).map(([name, { shape, verb }]) => [name, checked(shape, verb)])),
  );
  return {
    up: checked({ ...runShape, ...plan }, up),
    down: checked({ ...downShape, ...plan }, down),
    plan: checked({ ...runShape, ...plan }, planUp),
    planDown: checked({ ...downShape, ...plan }, planDown),
    savePlan: checked({ ...upShape, ...stepsShape, ...noPlan }, savePlan),
    savePlanDown: checked({ ...downShape, ...noPlan }, savePlanDown),
    ...(added as features.FeatureMembers),
    async status() {
      requireOpen();
      return await status(options);
    },
    async close() {
      isClosed = true;
      await session.close();
    },
  };
}

/** Parses the saved plan. It includes all choices, so no other option may be given with it. */
function withPlan<Given extends object>(choice: Given): Given {
  const { plan: saved } = choice as UpChoice;
  if (saved === undefined) return choice;
  const other = Object.keys(choice).find((name) => name !== "plan");
  if (other !== undefined) throw new MigrateError("ERR_USAGE", { problem: `plan and ${other} can't be used together` });
  return { ...choice, plan: parseSavedPlan(saved) };
}
