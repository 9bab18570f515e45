import { existsSync } from "node:fs";
import { settlingEvents, up } from "../../commands/up.ts";
import { count } from "../../errors/migrate-error.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import { budgetOf, defineCommand, withDatabases } from "../command/command.ts";
import {
  acceptFlag,
  budgetFlags,
  bundleFlags,
  contractFlags,
  leaseFlags,
  pythonFlag,
  switchFlag,
  textFlag,
  versionFlag,
  wholeFlag,
} from "../command/flags.ts";
import { caughtUpWords, runEvents } from "../render/events.ts";
import { renderDuration } from "../render/times.ts";
import type * as shapes from "../json/apply.ts";

export const upCommand = defineCommand({
  describe: "apply pending migrations",
  examples: [
    ["migrate up", "apply all pending migrations"],
    ["migrate up --to 3", "apply those up to 0003"],
    ["migrate up --target production --accept lossy", "apply them to another target, and consent to losing data"],
  ],
  stopping: "stopping at the next safe point; the next run resumes where this one stopped",
  flags: {
    "dry-run": switchFlag("show the plan and change nothing"),
    to: versionFlag("apply migrations up to this number only"),
    steps: wholeFlag("apply this many pending migrations at most", 1),
    "allow-out-of-order": switchFlag("also apply migrations with a lower number than an applied one"),
    accept: acceptFlag("consent to losing data in this run: lossy or irreversible"),
    plan: textFlag("run exactly the plan that migrate plan --out saved in this file", { value: "FILE" }),
    ...budgetFlags,
    ...bundleFlags,
    ...contractFlags,
    "step-by-step": switchFlag("run one migration after the other, except to finish a group that has begun"),
    ...leaseFlags,
    ...pythonFlag,
  },
  conflicts: [
    ["steps", "to"],
    ["plan", "to", "steps", "accept", "allow-out-of-order", "step-by-step"],
  ],
  async run(context) {
    const {
      to,
      steps,
      accept,
      "allow-out-of-order": allowOutOfOrder,
      "step-by-step": stepByStep,
      plan: file,
      "dry-run": isDry,
    } = context.flags;
    // What only some runs need is loaded by them: most runs have nothing to do.
    const plan = file === undefined ? undefined : (await import("../input/plan-file.ts")).readPlan(file);
    if (isDry === true) return await (await import("./plan.ts")).showPlan(context);
    const applied: string[] = [];
    let isPending = false;
    let hasSettled = false;
    const emit = runEvents(context, (event) => {
      const { output } = context;
      output.data<typeof shapes.up>(event);
      if (event.event === "planned" && event.migrations.length > 0) isPending = true;
      if (event.event === "applied") {
        applied.push(`applied ${formatMigration(event)} (${groupWords(event.group)}${renderDuration(event.duration)})`);
        // The events of a group come all at once.
        if (applied.length === (event.group ?? 1)) output.results(applied.splice(0));
      }
      if (settlingEvents.has(event.event)) hasSettled = true;
      if (event.event === "caughtUp") output.result(caughtUpWords(event));
      if (event.event === "indexed")
        output.result(`built index ${event.index} of ${event.table} (${renderDuration(event.duration)})`);
      if (event.event === "finished" && "applied" in event) output.result(resultWords(event.applied, hasSettled));
    });
    const budget = budgetOf(context.flags);
    const choice = plan === undefined ? { to, steps, allowOutOfOrder, accept, stepByStep } : { plan };
    return await withDatabases(
      context,
      async (session) => {
        const isAsked = !context.output.json && process.stdin.isTTY && process.stderr.isTTY && !process.env["CI"];
        const { target } = session.options;
        if (target.formatOf !== undefined && !existsSync(target.place))
          await (await import("../input/require-meant.ts")).requireMeant(session.options, context, isAsked);
        await up({ ...session.options, budget }, choice, async (run) => {
          for (const check of run.planChecks ?? []) await check.checkNow(run);
        });
        if (isPending) for (const { pending } of context.features) await pending?.(session, context.output);
      },
      async (databases) => await databases.up(choice, budget),
      emit,
    );
  },
});

/** `hasSettled`: whether it has built a deferred index, or computed rows of a watched column. */
function resultWords(applied: number, hasSettled: boolean): string {
  if (applied > 0) return `${count(applied, "migration")} applied`;
  return hasSettled ? "no migration was pending" : "nothing to do";
}

function groupWords(group: number | undefined): string {
  return group === undefined ? "" : `in a group of ${group}, `;
}
