import { down } from "../../commands/down.ts";
import { planDown } from "../../commands/plan.ts";
import { count } from "../../errors/migrate-error.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import { checkRefusals } from "../../plan/assess/guards.ts";
import { planDocument } from "../../plan/document/plan-document.ts";
import type { Plan } from "../../plan/make-plan.ts";
import { survey } from "../../run/prepare/estimate.ts";
import type { RunEvent } from "../../run/events.ts";
import type { MigratorOptions } from "../../run/run-context.ts";
import { defineCommand, withSession, type Context } from "../command/command.ts";
import {
  acceptFlag,
  bundleFlags,
  contractFlags,
  leaseFlags,
  switchFlag,
  textFlag,
  versionFlag,
  wholeFlag,
} from "../command/flags.ts";
import { readPlan } from "../input/plan-file.ts";
import { atTerminal, canAsk, isYes } from "../input/prompt.ts";
import { runEvents } from "../render/events.ts";
import { renderPlan } from "../render/plan.ts";
import { renderDuration } from "../render/times.ts";
import { showPlan } from "./plan.ts";
import type * as shapes from "../json/apply.ts";

export const downCommand = defineCommand({
  describe: "roll back the last migrations",
  examples: [
    ["migrate down", "roll back the migration that ran last"],
    ["migrate down --to 3", "roll back all migrations above 0003"],
    ["migrate down --dry-run", "show what would be rolled back"],
  ],
  exits: {
    failed: "something failed, or writes of others were or may have been lost",
    refused: "nothing was changed: rows block the rollback, it breaks a contract, or you did not agree to it",
  },
  stopping: "stopping at the next safe point; the next migrate down resumes where this one stopped",
  flags: {
    yes: switchFlag("roll back without asking"),
    "dry-run": switchFlag("show the plan and change nothing"),
    steps: wholeFlag("roll back this many migrations (1)", 1),
    to: versionFlag("roll back all migrations above this number; 0 for all"),
    accept: acceptFlag("roll back even if data that was written after the migration is lost"),
    reinsert: switchFlag("after an old version is restored, insert the rows again that were added since then"),
    plan: textFlag("run exactly the plan that migrate plan --down --out saved in this file", { value: "FILE" }),
    ...bundleFlags,
    ...contractFlags,
    ...leaseFlags,
  },
  conflicts: [
    ["plan", "steps", "to", "accept", "reinsert"],
    ["steps", "to"],
    ["accept", "reinsert"],
  ],
  async run(context) {
    const { steps, to, accept, reinsert } = context.flags;
    const plan = context.flags.plan === undefined ? undefined : readPlan(context.flags.plan);
    if (context.flags["dry-run"] === true)
      return await showPlan({ ...context, flags: { ...context.flags, down: true } });
    const asks = plan === undefined && context.flags.yes !== true && !context.output.json && canAsk();
    const see = runEvents(context, (event) => {
      const { output } = context;
      output.data<typeof shapes.down>(event);
      if (event.event === "reverted")
        output.result(`rolled back ${formatMigration(event)} (${renderDuration(event.duration)})`);
      if (event.event === "finished" && "reverted" in event)
        output.result(
          event.reverted === 0 ? "nothing to roll back" : `${count(event.reverted, "migration")} rolled back`,
        );
    });
    const choice = { steps, to, accept, reinsert };
    // The plan that the user agrees to has stated them.
    const isKnown = (event: RunEvent) => asks && event.event === "contracts";
    const emit = Object.assign((event: RunEvent) => isKnown(event) || see(event), { end: see.end });
    return await withSession(
      context,
      async ({ options }) => {
        if (!asks) return void (await down(options, plan === undefined ? choice : { plan }));
        const made = await planDown(options, choice);
        if (!(await agrees(made, options, context))) return "refused";
        const agreed = made.migrations.map(({ migration }) => migration);
        return void (await down(options, choice, agreed));
      },
      emit,
    );
  },
});

/** Whether the user agrees to the plan. Throws if `down` would refuse it anyway. */
async function agrees(made: Plan, options: MigratorOptions, context: Context): Promise<boolean> {
  const { target } = options;
  const { output } = context;
  const { migrations } = made;
  if (migrations.length === 0) return true;
  checkRefusals(made, target.name);
  renderPlan(planDocument(made, target.name, "down", await survey(made, options)), output);
  const names = migrations.map(({ migration }) => formatMigration(migration)).join(", ");
  const isAgreed = await atTerminal(context, ({ untilRight }) =>
    untilRight(`roll back ${names}? (yes, or Enter to leave everything as it is) `, isYes),
  );
  if (!isAgreed) output.result("nothing was changed");
  return isAgreed;
}
