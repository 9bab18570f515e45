import { relative, resolve } from "node:path";
import { z } from "zod";
import { MigrateError } from "../../errors.ts";
import { loadSchema } from "../../migrations/load-schema.ts";
import type { Answer } from "../../plan/diff-columns.ts";
import type { Diff } from "../../plan/diff.ts";
import { checkAnswers, checkDiff, compareDeclared, questionOf } from "../../run/generate.ts";
import type { Step } from "../../steps/registry.ts";
import { atTerminal, canAsk } from "../ask.ts";
import { acceptFlag, commonSchema, parseFlags, switchFlag, withSession, type Command } from "../command.ts";
import { done, somethingPending } from "../exit-code.ts";
import type { Output } from "../output.ts";
import { typedSteps, withStepFlags } from "../step-flags.ts";
import { wordsOf } from "../step-words.ts";
import { authoring, writingNext } from "../write-next.ts";

const generateFlags = commonSchema.extend({
  name: z.string("the name is given twice").optional(),
  check: switchFlag,
  down: switchFlag,
  accept: acceptFlag.optional(),
});

/** What was asked for of tables and columns that are gone. */
const answerFlags = ["rename", "drop-column", "rename-table", "drop-table"];

export const generateCommand: Command = {
  usage: "generate [name]",
  describe: "write the migration from the tables that there are to those that schema.ts declares",
  switches: {
    check: "write nothing; exit 3 when the migrations do not lead to what is declared",
    down: "write out what takes it back",
  },
  flags: (cli) =>
    withStepFlags(
      cli
        .positional("name", { type: "string", describe: "what it does; made from the steps when absent" })
        .option("accept", { type: "string", describe: "let it do this: lossy, irreversible" }),
      answerFlags,
    ),
  async run(context) {
    const { flags, output, signal } = context;
    const { name, check, down, accept, "load-timeout": loadSeconds } = parseFlags(generateFlags, flags);
    if (check === true && (name !== undefined || down === true || accept !== undefined))
      throw new MigrateError("ERR_USAGE", {
        problem: "--check writes nothing, so it takes no name, --down or --accept",
      });
    let answers = typedSteps(context).map(answerOf);
    return await withSession(context, {}, async (session) => {
      const { config } = session;
      const options = authoring(session);
      const declared = await loadSchema(resolve(config.folder, config.schema), loadSeconds);
      let diff = await compareDeclared(options, declared, answers);
      // What is inside of something that is asked about is not reached before.
      if (diff.unsure.length === 0 || answers.length === diff.unused.length) checkAnswers(diff);
      if (check === true) return report(diff, config.schema, output);
      // An answer may raise the next question, as of what is inside a renamed struct.
      while (diff.unsure.length > 0 && !output.json && canAsk()) {
        answers = [...answers, ...(await ask(diff, signal))];
        diff = await compareDeclared(options, declared, answers);
      }
      checkDiff(diff);
      checkAnswers(diff);
      const { steps } = diff;
      if (steps.length === 0) {
        output.data({ steps: [] });
        output.result(`nothing to do: the migrations lead to what ${config.schema} declares`);
        return done;
      }
      const writing = await writingNext(session, context);
      const file = await writing.write({ name: name ?? nameOf(steps), steps, down, accept });
      output.data({ file, steps: wordsOf(steps) });
      output.result(`wrote ${relative(process.cwd(), file)}`);
      for (const words of wordsOf(steps)) output.result(`  ${words}`);
      return done;
    });
  },
};

function answerOf(step: Step): Answer {
  const { table } = step;
  switch (step.kind) {
    case "renameColumn":
      return { table, path: step.path, name: step.name };
    case "dropColumn":
      return { table, path: step.path };
    case "renameTable":
      return { table, name: step.name };
    default:
      return { table };
  }
}

async function ask({ unsure }: Diff, signal: AbortSignal): Promise<readonly Answer[]> {
  return await atTerminal(signal, async ({ untilRight }) => {
    const answers: Answer[] = [];
    for (const one of unsure) {
      const { gone, names } = questionOf(one);
      const question = `${gone} is gone and ${names.join(" and ")} new; its new name, or nothing if it is to be dropped: `;
      const name = await untilRight(question, (answer) => {
        const word = answer.trim();
        if (word === "" || one.names.includes(word)) return word;
        throw new MigrateError("ERR_USAGE", { problem: `${word} is none of ${one.names.join(", ")}` });
      });
      answers.push({ table: one.table, path: one.path, ...(name !== "" && { name }) });
    }
    return answers;
  });
}

function report(diff: Diff, file: string, output: Output): number {
  const { steps, unsure, impossible } = diff;
  const isEqual = steps.length + unsure.length + impossible.length === 0;
  const questions = unsure.map(questionOf);
  output.data({ equal: isEqual, steps: wordsOf(steps), unsure: questions, impossible });
  if (isEqual) {
    output.result(`equal: the migrations lead to what ${file} declares`);
    return done;
  }
  for (const words of wordsOf(steps)) output.result(words);
  for (const { gone, names } of questions) output.result(`${gone} is gone and ${names.join(" and ")} new`);
  for (const words of impossible) output.result(words);
  const next =
    impossible.length > 0
      ? "and no steps lead there"
      : unsure.length > 0
        ? "migrate generate asks what became of what is gone, or is told by --rename and --drop-column"
        : "migrate generate writes the next one";
  output.problem(`the migrations do not lead to what ${file} declares; ${next}`);
  return somethingPending;
}

/** Such as `rename_column_documents`. */
function nameOf([first, ...others]: readonly Step[]): string {
  const words = first!.kind.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const table = first!.table.replace(/[^A-Za-z0-9_-]+/g, "_");
  return `${words}_${table}${others.length === 0 ? "" : "_and_more"}`.slice(0, 200);
}
