/** The programming interface to the commands of `migrate`. */
import { z } from "zod";
import { MigrateError } from "../errors/migrate-error.ts";
import { acceptances } from "../migrations/acceptance.ts";
import type { Choice } from "../plan/history/pending.ts";
import type { Plan } from "../plan/make-plan.ts";
import { parseSavedPlan, type SavedPlan } from "../plan/assess/saved-plan.ts";
import { baseline, type Baseline, type BaselineChoice } from "../commands/adopt/baseline.ts";
import { down, type DownChoice, type DownResult } from "../commands/down.ts";
import { up, type UpChoice, type UpResult } from "../commands/up.ts";
import { plan, planDown, savePlan, savePlanDown } from "../commands/plan.ts";
import { status, type StatusResult } from "../commands/status.ts";
import { rehearse, type Rehearsal, type RehearsalChoice } from "../commands/rehearse/rehearse.ts";
import { prune, type KeptPoint, type PruneChoice } from "../commands/prune.ts";
import { resolve as resolveOne, type Resolution, type ResolveChoice } from "../commands/resolve/resolve.ts";
import { openScratch } from "../targets/index.ts";
import { checkOptions, openSession, type SessionOptions } from "./session.ts";

const migrationNumber = z.int("must be the number of a migration").min(0, "must be the number of a migration");

const choiceShape = {
  to: migrationNumber,
  allowOutOfOrder: z.boolean("must be true or false"),
  accept: z.array(
    z.enum(acceptances, `must be ${acceptances.map((one) => `"${one}"`).join(" or ")}`),
    `must be an array of ${acceptances.map((one) => `"${one}"`).join(" and ")}`,
  ),
} satisfies Record<keyof Choice, z.ZodType>;

const upShape = { ...choiceShape, plan: z.unknown() } satisfies Record<keyof UpChoice, z.ZodType>;

const rehearsalShape = {
  ...choiceShape,
  rows: z.int("must be how many rows").min(0, "must be how many rows"),
} satisfies Record<keyof RehearsalChoice, z.ZodType>;

const downShape = {
  steps: z.int("must be how many migrations").min(1, "must be how many migrations"),
  to: migrationNumber,
  acceptLoss: z.boolean("must be true or false"),
  keepAppended: z.boolean("must be true or false"),
  plan: z.unknown(),
} satisfies Record<keyof DownChoice, z.ZodType>;

const pruneShape = {
  to: migrationNumber,
  yes: z.boolean("must be true or false"),
} satisfies Record<keyof PruneChoice, z.ZodType>;

const baselineShape = {
  to: migrationNumber,
  dryRun: z.boolean("must be true or false"),
} satisfies Record<keyof BaselineChoice, z.ZodType>;

const migration = z.union([migrationNumber, z.string()], "must be the number of a migration, or its number and name");

const resolveShape = {
  reverted: migration,
  adopted: migration,
  yes: z.boolean("must be true or false"),
} satisfies Record<keyof ResolveChoice, z.ZodType>;

/** The commands of `migrate`, for programs. */
export interface Migrator {
  up(choice?: UpChoice): Promise<UpResult>;
  down(choice?: DownChoice): Promise<DownResult>;
  /** Plans `up`. Given a saved plan, it throws ERR_PLAN_STALE if that plan no longer holds. */
  plan(choice?: UpChoice): Promise<Plan>;
  /** Plans `down`. Blockers are not thrown: they are in the result's `blocked`. */
  planDown(choice?: DownChoice): Promise<Plan>;
  /** A plan that can be stored as JSON. `up({ plan })` executes exactly this plan, once. */
  savePlan(choice?: Choice): Promise<SavedPlan>;
  savePlanDown(choice?: Omit<DownChoice, "plan">): Promise<SavedPlan>;
  /** Tries `up` and its rollback on a copy. Failures and broken promises are not thrown: they are in the result. */
  rehearse(choice?: RehearsalChoice): Promise<Rehearsal>;
  /** Lists the kept versions of tables; with `yes` releases those that no run needs. */
  prune(choice?: PruneChoice): Promise<readonly KeptPoint[]>;
  /** Marks migrations as applied that never ran here, if the tables are as these migrations leave them. */
  baseline(choice?: BaselineChoice): Promise<Baseline>;
  /** Marks one migration as reverted or as adopted; without `yes` only reports what that means. */
  resolve(choice: ResolveChoice): Promise<Resolution>;
  status(): Promise<StatusResult>;
  close(): Promise<void>;
}

/**
 * Opens the configured target.
 *
 * @example
 * const migrator = await openMigrator({ target: "local" });
 * await migrator.up();
 * await migrator.close();
 */
export async function openMigrator(wanted: SessionOptions = {}): Promise<Migrator> {
  const { options, close } = await openSession(wanted);
  const checked = (choice: UpChoice = {}): UpChoice => {
    checkOptions(choice, upShape);
    return withPlan(choice);
  };
  const checkedDown = (choice: DownChoice = {}): DownChoice => {
    checkOptions(choice, downShape);
    if (choice.steps !== undefined && choice.to !== undefined)
      throw new MigrateError("ERR_USAGE", { problem: "steps and to say two things; use one of them" });
    return withPlan(choice);
  };
  return {
    up: async (choice) => await up(options, checked(choice)),
    down: async (choice) => await down(options, checkedDown(choice)),
    plan: async (choice) => await plan(options, checked(choice)),
    planDown: async (choice) => await planDown(options, checkedDown(choice)),
    savePlan: async (choice) => await savePlan(options, unplanned(checked(choice))),
    savePlanDown: async (choice) => await savePlanDown(options, unplanned(checkedDown(choice))),
    rehearse: async (choice = {}) => {
      checkOptions(choice, rehearsalShape);
      return await rehearse(options, choice, openScratch);
    },
    prune: async (choice = {}) => {
      checkOptions(choice, pruneShape);
      return await prune(options, choice);
    },
    baseline: async (choice = {}) => {
      checkOptions(choice, baselineShape);
      return await baseline(options, choice);
    },
    resolve: async (choice) => {
      checkOptions(choice, resolveShape);
      return await resolveOne(options, choice);
    },
    status: () => status(options),
    close,
  };
}

/** Parses the saved plan. It includes all choices, so no other option may be given with it. */
function withPlan<Given extends UpChoice | DownChoice>(choice: Given): Given {
  if (choice.plan === undefined) return choice;
  const other = Object.keys(choice).find((name) => name !== "plan");
  if (other !== undefined)
    throw new MigrateError("ERR_USAGE", { problem: `plan and ${other} say two things; the plan already contains it` });
  return { ...choice, plan: parseSavedPlan(choice.plan) };
}

function unplanned<Given extends UpChoice | DownChoice>({ plan: given, ...choice }: Given): Omit<Given, "plan"> {
  if (given === undefined) return choice;
  throw new MigrateError("ERR_USAGE", { problem: "a plan is made of the migrations, not of another plan" });
}
