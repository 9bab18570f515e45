import { down } from "../../commands/down.ts";
import { count } from "../../errors/migrate-error.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import { defineCommand, withSession } from "../command/command.ts";
import { bundleFlags, leaseFlags, switchFlag, textFlag, versionFlag, wholeFlag } from "../command/flags.ts";
import { readPlan } from "../input/plan-file.ts";
import { renderDuration, runEvents } from "../render/events.ts";
import { showPlan } from "./plan.ts";

export const downCommand = defineCommand({
  usage: "down",
  describe: "roll back the last migrations",
  examples: [
    ["migrate down", "roll back the migration that ran last"],
    ["migrate down --to 3", "roll back all migrations above 0003"],
    ["migrate down --dry-run", "show what would be rolled back"],
  ],
  stopping: "stopping at the next safe point; the next migrate down resumes where this one stopped",
  flags: {
    "dry-run": switchFlag("show the plan and change nothing"),
    steps: wholeFlag("roll back this many migrations (1)", 1),
    to: versionFlag("roll back all migrations above this number; 0 for all"),
    "accept-loss": switchFlag("roll back even if data that was written after the migration is lost"),
    "keep-appended": switchFlag("after an old version is restored, insert the rows again that were added since then"),
    plan: textFlag("run exactly the plan that migrate plan --down --out saved in this file", { value: "FILE" }),
    ...bundleFlags,
    ...leaseFlags,
  },
  conflicts: [
    ["plan", "steps", "to", "accept-loss", "keep-appended"],
    ["steps", "to"],
    ["accept-loss", "keep-appended"],
  ],
  async run(context) {
    const { steps, to, "accept-loss": acceptLoss, "keep-appended": keepAppended } = context.flags;
    const plan = context.flags.plan === undefined ? undefined : readPlan(context.flags.plan);
    if (context.flags["dry-run"] === true)
      return await showPlan({ ...context, flags: { ...context.flags, down: true } });
    const emit = runEvents(context, (event) => {
      const { output } = context;
      output.data(event);
      if (event.event === "reverted")
        output.result(`rolled back ${formatMigration(event)} (${renderDuration(event.duration)})`);
      if (event.event === "finished" && "reverted" in event)
        output.result(
          event.reverted === 0 ? "nothing to roll back" : `${count(event.reverted, "migration")} rolled back`,
        );
    });
    const choice = plan === undefined ? { steps, to, acceptLoss, keepAppended } : { plan };
    await withSession(context, ({ options }) => down(options, choice), emit);
    return undefined;
  },
});
