import { z } from "zod";
import { formatMigration } from "../../migrations/file-name.ts";
import { plan } from "../../run/migrator.ts";
import type { Plan } from "../../plan/plan.ts";
import { parseFlags, switchFlag, versionFlag, withSession, type Command } from "../command.ts";
import { done } from "../exit-code.ts";
import { count } from "../../errors.ts";

const planFlags = z.looseObject({
  to: versionFlag.optional(),
  "allow-out-of-order": switchFlag,
});

export const planCommand: Command = {
  usage: "plan",
  describe: "show what up would do, checked against the tables; changes nothing",
  switches: { "allow-out-of-order": "plan numbers below an applied one too" },
  flags: (cli) => cli.option("to", { type: "string", describe: "plan up to this number only" }),
  async run(context) {
    const { flags, output } = context;
    const { to, "allow-out-of-order": allowOutOfOrder } = parseFlags(planFlags, flags);
    const [made, target] = await withSession(context, {}, async ({ options }) => [
      await plan(options, { to, allowOutOfOrder }),
      options.target.name,
    ]);
    output.data(toDocument(made, target));
    if (made.migrations.length === 0) output.result("nothing to do");
    for (const { migration, actions, done: already, total } of made.migrations) {
      const part = already === 0 ? "" : ` (${already} of ${count(total, "action")} done already)`;
      output.result(`${output.styled("bold", formatMigration(migration))}${part}`);
      for (const { text, commits, risks } of actions) {
        output.result(`  ${text}`);
        if (commits.length > 1)
          for (const [index, commit] of commits.entries())
            output.result(
              output.styled("dim", `    ${index + 1} of ${count(commits.length, "commit")}: ${commit.text}`),
            );
        for (const risk of risks) output.result(output.styled("yellow", `    ${risk.text}`));
      }
    }
    return done;
  },
};

function toDocument({ migrations }: Plan, target: string) {
  return {
    target,
    pending: migrations.map(({ migration: { version, name, file, checksum }, actions, done: already, total }) => ({
      version,
      name,
      file,
      checksum,
      done: already,
      total,
      actions: actions.map(({ place, action, text, commits, risks }) => ({
        step: place.step,
        kind: place.kind,
        text,
        ...(commits.length > 1 && { commits: commits.map((one) => ({ text: one.text, action: one.action })) }),
        risks,
        action,
      })),
    })),
  };
}
