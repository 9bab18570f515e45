import { relative, resolve } from "node:path";
import { z } from "zod";
import { MigrateError } from "../../errors/migrate-error.ts";
import { loadSchema } from "../../migrations/load-schema.ts";
import type { DiffAnswer } from "../../commands/generate/diff-columns.ts";
import type { Diff } from "../../commands/generate/diff-tables.ts";
import { compareDeclared, questionOf } from "../../commands/generate/generate.ts";
import { answerFlags, checkTyped, nameOf, askUntilAnswered, typedAnswers } from "../input/diff-answers.ts";
import { acceptFlag, commonSchema, parseFlags, switchFlag, withSession, type Command } from "../command/command.ts";
import { done, somethingPending } from "../command/exit-code.ts";
import type { Output } from "../command/output.ts";
import { withStepFlags } from "../input/step-flags.ts";
import { describeSteps } from "../render/steps.ts";
import { authoring, writingNext } from "../project/write-migration.ts";

const generateFlags = commonSchema.extend({
  name: z.string("the name is given twice").optional(),
  check: switchFlag,
  down: switchFlag,
  accept: acceptFlag.optional(),
});

export const generateCommand: Command = {
  usage: "generate [name]",
  describe: "write the migration from the existing tables to those that schema.ts declares",
  switches: {
    check: "write nothing; exit 3 if the migrations do not lead to the declared tables",
    down: "write out what rolls it back",
  },
  flags: (cli) =>
    withStepFlags(
      cli
        .positional("name", { type: "string", describe: "what it does; made from the steps when absent" })
        .option("accept", { type: "string", describe: "the consent to write into the file: lossy or irreversible" }),
      answerFlags,
    ),
  async run(context) {
    const { flags, output } = context;
    const { name, check, down, accept, "load-timeout": loadSeconds } = parseFlags(generateFlags, flags);
    if (check === true && (name !== undefined || down === true || accept !== undefined))
      throw new MigrateError("ERR_USAGE", {
        problem: "--check writes nothing, so it takes no name, --down or --accept",
      });
    const answers = typedAnswers(context);
    return await withSession(context, {}, async (session) => {
      const { config } = session;
      const options = authoring(session);
      const declared = await loadSchema(resolve(config.folder, config.schema), loadSeconds);
      const compare = async (given: readonly DiffAnswer[]) => await compareDeclared(options, declared, given);
      const diff = await compare(answers);
      if (check === true) {
        checkTyped(diff, answers);
        return report(diff, config.schema, output);
      }
      const { steps, later } = await askUntilAnswered(diff, answers, compare, context);
      if (steps.length === 0) {
        output.data({ steps: [] });
        output.result(`nothing to do: the migrations lead to what ${config.schema} declares`);
        return done;
      }
      const writing = writingNext(session, context);
      const file = await writing.write({ name: name ?? nameOf(steps), steps, down, accept });
      output.data({ file, steps: describeSteps(steps), later });
      output.result(`wrote ${relative(process.cwd(), file)}`);
      for (const words of describeSteps(steps)) output.result(`  ${words}`);
      for (const words of later)
        output.progress(`note: left for the next migration, as vectors are needed for it: ${words}`);
      return done;
    });
  },
};

function report(diff: Diff, file: string, output: Output): number {
  const { steps, unsure, impossible, later } = diff;
  const isEqual = steps.length + unsure.length + impossible.length === 0;
  const questions = unsure.map(questionOf);
  output.data({ equal: isEqual, steps: describeSteps(steps), unsure: questions, impossible, later });
  if (isEqual) {
    output.result(`equal: the migrations lead to what ${file} declares`);
    return done;
  }
  for (const words of [...describeSteps(steps), ...later]) output.result(words);
  for (const { gone, names } of questions) output.result(`${gone} is gone and ${names.join(" and ")} new`);
  for (const words of impossible) output.result(words);
  const next =
    impossible.length > 0
      ? "and no steps lead there"
      : unsure.length > 0
        ? "migrate generate asks what became of what is gone, or takes --rename and --drop-column as answers"
        : "migrate generate writes the next one";
  output.problem(`the migrations do not lead to what ${file} declares; ${next}`);
  return somethingPending;
}
