import { z } from "zod";
import { MigrateError } from "../../errors/migrate-error.ts";
import { migrationsOf, planDocument } from "../../plan/assess/plan-document.ts";
import { failureIn } from "../../plan/assess/guards.ts";
import type { SavedPlan } from "../../plan/assess/saved-plan.ts";
import type { DownChoice } from "../../commands/down.ts";
import { plan, planDown, savePlan, savePlanDown } from "../../commands/plan.ts";
import type { UpChoice } from "../../commands/up.ts";
import { survey } from "../../run/prepare/estimate.ts";
import {
  acceptFlag,
  parseFlags,
  switchFlag,
  versionFlag,
  wholeFlag,
  withSession,
  type Command,
} from "../command/command.ts";
import { done, exitCodeOf } from "../command/exit-code.ts";
import { checkPlanAlone, planFlag, readPlan, writePlan } from "../input/plan-file.ts";
import { renderPlan } from "../render/plan.ts";

const planFlags = z.looseObject({
  down: switchFlag,
  to: versionFlag.optional(),
  steps: wholeFlag("steps", 1).optional(),
  "allow-out-of-order": switchFlag,
  "accept-loss": switchFlag,
  "keep-appended": switchFlag,
  accept: acceptFlag.optional(),
  out: z.string("--out is given twice or without a value").min(1, "--out needs a file").optional(),
  plan: planFlag.optional(),
});

export const planCommand: Command = {
  usage: "plan",
  describe: "show what up or down would do, checked against the tables; changes nothing",
  switches: {
    down: "plan a rollback: what down would do",
    "allow-out-of-order": "plan numbers below an applied one too",
    "accept-loss": "with --down: roll back even if data that was written after the migration is lost",
    "keep-appended": "with --down: insert again the rows that were added after the migration",
  },
  flags: (cli) =>
    cli
      .option("to", { type: "string", describe: "plan up to this number only, or down to it" })
      .option("accept", { type: "string", describe: "plan as with up --accept: lossy or irreversible" })
      .option("steps", { type: "string", describe: "with --down: roll back this many migrations (1)" })
      .option("plan", { type: "string", describe: "show a saved plan, and check whether it is still valid" })
      .option("out", { type: "string", describe: "save the plan to this file, for up --plan or down --plan" }),
  async run(context) {
    const { output } = context;
    const flags = parseFlags(planFlags, context.flags);
    checkTogether(flags);
    checkPlanAlone(flags, ["to", "steps", "accept", "allow-out-of-order", "accept-loss", "keep-appended", "out"]);
    const { out } = flags;
    const given = flags.plan === undefined ? undefined : readPlan(flags.plan);
    const direction = flags.down === true ? "down" : (given?.plan.direction ?? "up");
    const { saved, document, failure } = await withSession(context, {}, async ({ options }) => {
      const [forth, back] = choicesOf(flags, given);
      if (out !== undefined) {
        const saved = direction === "up" ? await savePlan(options, forth) : await savePlanDown(options, back);
        return { saved, document: saved.plan, failure: undefined };
      }
      const made = direction === "up" ? await plan(options, forth) : await planDown(options, back);
      const { target } = options;
      const document = planDocument(made, target.name, direction, await survey(made, target));
      return { saved: undefined, document, failure: failureIn(made) };
    });
    output.data(document);
    renderPlan(document, output);
    if (saved !== undefined) {
      writePlan(out!, saved);
      const isNothing = migrationsOf(document).length === 0;
      output.progress(
        `saved; ${isNothing ? "there is nothing in it to do" : `migrate ${direction} --plan ${out} does just that, once`}`,
      );
    }
    if (given !== undefined) output.progress("the saved plan is still valid");
    const { blocked } = document;
    const problem = blocked === undefined ? failure : new MigrateError("ERR_ROLLBACK_BLOCKED", blocked);
    if (problem === undefined) return done;
    output.problem(problem.message);
    return exitCodeOf(problem);
  },
};

type PlanFlags = z.output<typeof planFlags>;

/** The choices for `up` and for `down`. */
function choicesOf(
  { to, steps, accept, ...flags }: PlanFlags,
  given: SavedPlan | undefined,
): readonly [UpChoice, DownChoice] {
  if (given !== undefined) return [{ plan: given }, { plan: given }];
  return [
    { to, accept, allowOutOfOrder: flags["allow-out-of-order"] },
    { to, steps, acceptLoss: flags["accept-loss"], keepAppended: flags["keep-appended"] },
  ];
}

/** Refuses flags that would be ignored or that contradict each other. */
function checkTogether(flags: PlanFlags): void {
  const others =
    flags.down === true
      ? (["allow-out-of-order", "accept"] as const)
      : (["steps", "accept-loss", "keep-appended"] as const);
  const other = others.find((name) => flags[name] !== undefined);
  if (other !== undefined)
    throw new MigrateError("ERR_USAGE", {
      problem: `--${other} is for migrate ${flags.down === true ? "up" : "down"}`,
    });
  if (flags.to !== undefined && flags.steps !== undefined)
    throw new MigrateError("ERR_USAGE", { problem: "--steps and --to say two things; use one of them" });
  if (flags["accept-loss"] === true && flags["keep-appended"] === true)
    throw new MigrateError("ERR_USAGE", {
      problem: "--accept-loss and --keep-appended say two things; use one of them",
    });
}
