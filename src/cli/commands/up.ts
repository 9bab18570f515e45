import { up } from "../../commands/up.ts";
import {
  leaseFlags,
  leaseSchema,
  parseFlags,
  switchFlag,
  tellUnderWay,
  acceptFlag,
  versionFlag,
  withSession,
  type Command,
} from "../command/command.ts";
import { done } from "../command/exit-code.ts";
import { renderDuration, renderEvent } from "../render/events.ts";
import { count } from "../../errors/migrate-error.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import type { RunEvent } from "../../run/events.ts";
import { checkPlanAlone, planFlag, readPlan } from "../input/plan-file.ts";
import { planCommand } from "./plan.ts";

const upFlags = leaseSchema.extend({
  to: versionFlag.optional(),
  "dry-run": switchFlag,
  "allow-out-of-order": switchFlag,
  accept: acceptFlag.optional(),
  plan: planFlag.optional(),
});

export const upCommand: Command = {
  usage: "up",
  describe: "apply pending migrations",
  stopping: "stopping at the next safe point, and the next run resumes where this one stopped",
  switches: {
    "dry-run": "show the plan and change nothing",
    "allow-out-of-order": "apply numbers below an applied one too",
  },
  flags: (cli) =>
    leaseFlags(
      cli
        .option("to", { type: "string", describe: "apply up to this number only" })
        .option("accept", {
          type: "string",
          describe: "the consent for this run: lossy or irreversible",
        })
        .option("plan", { type: "string", describe: "run exactly the plan that plan --out has saved in this file" }),
    ),
  async run(context) {
    const { flags, output, underWay } = context;
    const given = parseFlags(upFlags, flags);
    const { to, wait, lease, accept, "allow-out-of-order": allowOutOfOrder } = given;
    checkPlanAlone(given, ["to", "accept", "allow-out-of-order"]);
    const choice = given.plan === undefined ? { to, allowOutOfOrder, accept } : { plan: readPlan(given.plan) };
    if (given["dry-run"] === true) return await planCommand.run(context);
    const emit = (event: RunEvent) => {
      tellUnderWay(event, underWay);
      output.data(event);
      renderEvent(event, output);
      if (event.event === "applied")
        output.result(`applied ${formatMigration(event)} (${renderDuration(event.duration)})`);
      if (event.event === "finished" && "applied" in event)
        output.result(event.applied === 0 ? "nothing to do" : `${count(event.applied, "migration")} applied`);
    };
    await withSession(context, { emit, waitSeconds: wait, leaseSeconds: lease }, ({ options }) => up(options, choice));
    return done;
  },
};
