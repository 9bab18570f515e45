import { count } from "../../errors/migrate-error.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import { down } from "../../commands/down.ts";
import type { RunEvent } from "../../run/events.ts";
import {
  leaseFlags,
  leaseSchema,
  parseFlags,
  switchFlag,
  tellUnderWay,
  versionFlag,
  wholeFlag,
  withSession,
  type Command,
} from "../command/command.ts";
import { done } from "../command/exit-code.ts";
import { renderDuration, renderEvent } from "../render/events.ts";
import { checkPlanAlone, planFlag, readPlan } from "../input/plan-file.ts";
import { planCommand } from "./plan.ts";

const downFlags = leaseSchema
  .extend({
    steps: wholeFlag("steps", 1).optional(),
    to: versionFlag.optional(),
    "accept-loss": switchFlag,
    "keep-appended": switchFlag,
    "dry-run": switchFlag,
    plan: planFlag.optional(),
  })
  .refine(
    ({ steps, to }) => steps === undefined || to === undefined,
    "--steps and --to say two things; use one of them",
  )
  .refine(
    (flags) => flags["accept-loss"] !== true || flags["keep-appended"] !== true,
    "--accept-loss and --keep-appended say two things; use one of them",
  );

export const downCommand: Command = {
  usage: "down",
  describe: "roll back the last migrations",
  stopping: "stopping at the next safe point, and the next migrate down resumes where this one stopped",
  switches: {
    "dry-run": "show the plan and change nothing",
    "accept-loss": "roll back even if data that was written after the migration is lost",
    "keep-appended": "after an old version is restored, insert again the rows that were added after the migration",
  },
  flags: (cli) =>
    leaseFlags(
      cli
        .option("steps", { type: "string", describe: "roll back this many migrations (1)" })
        .option("to", { type: "string", describe: "roll back all migrations above this number; 0 for all" })
        .option("plan", {
          type: "string",
          describe: "run exactly the plan that plan --down --out has saved in this file",
        }),
    ),
  async run(context) {
    const { flags, output, underWay } = context;
    const given = parseFlags(downFlags, flags);
    const { steps, to, wait, lease, "accept-loss": acceptLoss, "keep-appended": keepAppended } = given;
    checkPlanAlone(given, ["steps", "to", "accept-loss", "keep-appended"]);
    const choice = given.plan === undefined ? { steps, to, acceptLoss, keepAppended } : { plan: readPlan(given.plan) };
    if (given["dry-run"] === true) return await planCommand.run({ ...context, flags: { ...flags, down: true } });
    const emit = (event: RunEvent) => {
      tellUnderWay(event, underWay);
      output.data(event);
      renderEvent(event, output);
      if (event.event === "reverted")
        output.result(`rolled back ${formatMigration(event)} (${renderDuration(event.duration)})`);
      if (event.event === "finished" && "reverted" in event)
        output.result(
          event.reverted === 0 ? "nothing to roll back" : `${count(event.reverted, "migration")} rolled back`,
        );
    };
    await withSession(context, { emit, waitSeconds: wait, leaseSeconds: lease }, ({ options }) =>
      down(options, choice),
    );
    return done;
  },
};
