import { relative, resolve } from "node:path";
import { z } from "zod";
import { MigrateError } from "../../errors.ts";
import { planNext, stepsBack } from "../../run/next.ts";
import type { Session } from "../../session.ts";
import type { Step } from "../../steps/registry.ts";
import { askSteps, canAsk } from "../ask-steps.ts";
import { acceptFlag, parseFlags, switchFlag, withSession, type Command } from "../command.ts";
import { done } from "../exit-code.ts";
import { typedSteps, withStepFlags } from "../step-flags.ts";

const newFlags = z.looseObject({
  name: z.string("the name is given twice or missing").optional(),
  down: switchFlag,
  accept: acceptFlag.optional(),
});

export const newCommand: Command = {
  usage: "new [name]",
  describe: "write the next migration file from templates/, with the steps that are given",
  switches: { down: "write out what takes it back" },
  flags: (cli) =>
    withStepFlags(
      cli
        .positional("name", { type: "string", describe: "what it does, such as add_headlines" })
        .option("accept", { type: "string", describe: "let it do this: lossy, irreversible" }),
    ),
  async run(context) {
    const { flags, output, signal, underWay } = context;
    const { name, down, accept } = parseFlags(newFlags, flags);
    const steps = typedSteps(context);
    if (name === undefined && !(canAsk() && steps.length === 0 && !output.json)) throw nameMissing();
    if (steps.length === 0 && (down === true || accept !== undefined) && name !== undefined)
      throw new MigrateError("ERR_USAGE", {
        problem: `--${down === true ? "down" : "accept"} needs steps, such as --rename documents.title:headline`,
      });
    // ts-morph is slow to load and only this command writes TypeScript.
    const { createMigration, nextMigration } = await import("../../scaffold/create-migration.ts");
    const file = await withSession(context, {}, async (session) => {
      const { options } = session;
      const migrations = folderOf(session);
      const plan = async (wanted: string, all: readonly Step[]) =>
        await planNext(options, nextMigration({ migrations, name: wanted }), all);
      const check = { name: (wanted: string) => nextMigration({ migrations, name: wanted }), steps: plan };
      const asked = name === undefined ? await askSteps(signal, check) : { name, steps };
      check.name(asked.name);
      const planned = asked.steps.length === 0 ? undefined : await plan(asked.name, asked.steps);
      const back = down === true && planned !== undefined ? stepsBack(planned, options) : undefined;
      underWay(true);
      const wanted = { folder: session.config.folder, migrations, name: asked.name, accepts: accept };
      const written = await createMigration({ ...wanted, ...(planned && { steps: asked.steps, down: back }) });
      for (const { place, risks } of planned?.actions ?? [])
        for (const { kind, text } of risks)
          if (kind === "loss" && accept === undefined)
            output.progress(`note: step ${place.step} loses something: ${text}`);
      return written;
    });
    output.data({ file });
    output.result(`wrote ${relative(process.cwd(), file)}`);
    return done;
  },
};

function folderOf({ config }: Session): string {
  return resolve(config.folder, config.migrations);
}

function nameMissing(): MigrateError {
  return new MigrateError("ERR_USAGE", { problem: "migrate new needs a name, such as migrate new add_headlines" });
}
