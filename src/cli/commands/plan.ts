import { z } from "zod";
import { formatMigration } from "../../migrations/file-name.ts";
import { plan } from "../../run/migrator.ts";
import type { Plan } from "../../plan/plan.ts";
import { acceptFlag, parseFlags, switchFlag, versionFlag, wholeFlag, withSession, type Command } from "../command.ts";
import { done } from "../exit-code.ts";
import { count, MigrateError } from "../../errors.ts";
import { planDown } from "../../run/down.ts";
import type { Refusal } from "../../plan/guards.ts";
import type { Direction } from "../../plan/course.ts";
import type { ActionRollback } from "../../plan/rollback-class.ts";
import type { Output } from "../output.ts";

const planFlags = z.looseObject({
  down: switchFlag,
  to: versionFlag.optional(),
  steps: wholeFlag("steps", 1).optional(),
  "allow-out-of-order": switchFlag,
  "accept-loss": switchFlag,
  "keep-appended": switchFlag,
  accept: acceptFlag.optional(),
});

export const planCommand: Command = {
  usage: "plan",
  describe: "show what up or down would do, checked against the tables; changes nothing",
  switches: {
    down: "what down would do",
    "allow-out-of-order": "plan numbers below an applied one too",
    "accept-loss": "with --down: lose what was written since into what is taken away",
    "keep-appended": "with --down: put rows back that were only added since",
  },
  flags: (cli) =>
    cli
      .option("to", { type: "string", describe: "plan up to this number only, or down to it" })
      .option("accept", { type: "string", describe: "what up would be given: lossy, irreversible" })
      .option("steps", { type: "string", describe: "with --down: so many migrations (1)" }),
  async run(context) {
    const { output } = context;
    const flags = parseFlags(planFlags, context.flags);
    checkTogether(flags);
    const {
      to,
      steps,
      accept,
      "allow-out-of-order": allowOutOfOrder,
      "accept-loss": acceptLoss,
      "keep-appended": keepAppended,
    } = flags;
    const direction = flags.down === true ? "down" : "up";
    const [made, target] = await withSession(context, {}, async ({ options }) => [
      direction === "up"
        ? await plan(options, { to, allowOutOfOrder, accept })
        : await planDown(options, { to, steps, acceptLoss, keepAppended }),
      options.target.name,
    ]);
    output.data(toDocument(made, target, direction));
    if (made.migrations.length === 0) output.result(direction === "up" ? "nothing to do" : "nothing to take back");
    for (const { migration, actions, done: already, total, writtenDown } of made.migrations) {
      const part = already === 0 ? "" : ` (${already} of ${count(total, "action")} done already)`;
      output.result(`${output.styled("bold", formatMigration(migration))}${part}`);
      for (const { text, commits, risks, rollback, refusal } of actions) {
        output.result(`  ${text}`);
        if (commits.length > 1)
          for (const [index, commit] of commits.entries())
            output.result(
              output.styled("dim", `    ${index + 1} of ${count(commits.length, "commit")}: ${commit.text}`),
            );
        for (const risk of risks) output.result(output.styled("yellow", `    ${risk.text}`));
        if (rollback !== undefined) output.result(rollbackLine(rollback, output));
        if (refusal !== undefined) output.result(output.styled("red", `    ${refusalText(refusal)}`));
      }
      if (writtenDown !== undefined)
        output.result(output.styled("dim", `  back, as its file says: ${writtenDown.join(", then ")}`));
    }
    return done;
  },
};

/** Refuses flags that would be passed over. */
function checkTogether(flags: z.output<typeof planFlags>): void {
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

function refusalText(refusal: Refusal): string {
  return refusal.reason === "consent"
    ? `needs consent: accepts = ["${refusal.consent}"] in its file, or --accept ${refusal.consent}`
    : `forbidden on this target: a step of rollback class ${refusal.class}`;
}

function rollbackLine({ class: is, text, reason }: ActionRollback, output: Output): string {
  if (is === "none") return output.styled("yellow", `    can't be taken back: ${reason}`);
  return output.styled("dim", `    back: ${text} (${[is, reason].filter((word) => word !== undefined).join(", ")})`);
}

function toDocument({ migrations }: Plan, target: string, direction: Direction) {
  return {
    target,
    direction,
    [direction === "up" ? "pending" : "reverting"]: migrations.map(
      ({ migration: { version, name, file, checksum }, actions, done: already, total, writtenDown }) => ({
        version,
        name,
        file,
        checksum,
        done: already,
        total,
        down: writtenDown,
        actions: actions.map(({ place, action, text, commits, risks, rollback, refusal }) => ({
          step: place.step,
          kind: place.kind,
          text,
          ...(commits.length > 1 && { commits: commits.map((one) => ({ text: one.text, action: one.action })) }),
          risks,
          rollback,
          refusal,
          action,
        })),
      }),
    ),
  };
}
