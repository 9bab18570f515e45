import { relative } from "node:path";
import { z } from "zod";
import { MigrateError } from "../../errors/migrate-error.ts";
import { askSteps } from "../input/prompt-steps.ts";
import { canAsk } from "../input/prompt.ts";
import { acceptFlag, parseFlags, switchFlag, withSession, type Command } from "../command/command.ts";
import { done } from "../command/exit-code.ts";
import { typedSteps, withStepFlags } from "../input/step-flags.ts";
import { writingNext } from "../project/write-migration.ts";

const newFlags = z.looseObject({
  name: z.string("the name is given twice or missing").optional(),
  down: switchFlag,
  accept: acceptFlag.optional(),
});

export const newCommand: Command = {
  usage: "new [name]",
  describe: "write the next migration file from templates/, with the given steps",
  switches: { down: "write out what rolls it back" },
  flags: (cli) =>
    withStepFlags(
      cli
        .positional("name", { type: "string", describe: "what it does, such as add_headlines" })
        .option("accept", { type: "string", describe: "the consent to write into the file: lossy or irreversible" }),
    ),
  async run(context) {
    const { flags, output, signal } = context;
    const { name, down, accept } = parseFlags(newFlags, flags);
    const steps = typedSteps(context);
    const asks = name === undefined && steps.length === 0 && !output.json && canAsk();
    if (name === undefined && !asks)
      throw new MigrateError("ERR_USAGE", {
        problem: "migrate new needs a name, such as migrate new add_headlines",
      });
    if (steps.length === 0 && (down === true || accept !== undefined) && !asks)
      throw new MigrateError("ERR_USAGE", {
        problem: `--${down === true ? "down" : "accept"} needs steps, such as --rename documents.title:headline`,
      });
    const file = await withSession(context, {}, async (session) => {
      const writing = writingNext(session, context);
      const check = { name: writing.checkName, steps: writing.checkSteps };
      const next = name === undefined ? await askSteps(signal, check) : { name, steps };
      return await writing.write({ ...next, down, accept });
    });
    output.data({ file });
    output.result(`wrote ${relative(process.cwd(), file)}`);
    return done;
  },
};
