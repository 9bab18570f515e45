import { resolve } from "node:path";
import type { DiffAnswer } from "./generate/diff-columns.ts";
import type { Diff } from "./generate/diff-tables.ts";
import { compareDeclared, goneWords, questionOf } from "./generate/generate.ts";
import { lostValues } from "./generate/lost-values.ts";
import { loadSchema } from "../shared/load-schema.ts";
import { schemaFile } from "../shared/file-kind.ts";
import { defineCommand, withAnySession } from "../../cli/command/command.ts";
import type { CommandResult } from "../../cli/command/exit-code.ts";
import { acceptFlag, nameArgument, switchFlag } from "../../cli/command/flags.ts";
import type { Output } from "../../cli/command/output.ts";
import { answerFlags, askUntilAnswered, checkTyped, nameOf, typedAnswers } from "./input/diff-answers.ts";
import { writingNext } from "./scaffold/write-migration.ts";
import { describeSteps, renderUpdated, renderWritten } from "../shared/written-files.ts";
import type { Step } from "../../steps/registry.ts";
import type * as shapes from "./json.ts";

export const generateCommand = defineCommand({
  describe: "write the migration from the existing tables to those that schema.ts declares",
  examples: [
    ["migrate generate", "write the next migration, named after its steps"],
    [
      "migrate generate headlines --rename documents.title:headline",
      "state that a column was renamed, not dropped and added",
    ],
    ["migrate generate --check", "in CI: exit with 3 if a migration is missing"],
  ],
  exits: { pending: "with --check: a migration is missing" },
  flags: {
    name: nameArgument("the name of the migration; by default made from the steps"),
    check: switchFlag("write nothing; exit with 3 if the migrations do not lead to the declared tables"),
    down: switchFlag("also write the steps of the rollback"),
    accept: acceptFlag("the consent to write into the file: lossy or irreversible"),
    ...answerFlags,
  },
  conflicts: [["check", "name", "down", "accept"]],
  async run(context) {
    const { output } = context;
    const { name, check, down, accept, "load-timeout": loadSeconds } = context.flags;
    const answers = typedAnswers(context);
    return await withAnySession(context, async (session) => {
      const { config, options } = session;
      const writing = writingNext(session, context);
      const schema = schemaFile(config);
      const declared = await loadSchema(resolve(config.folder, schema), loadSeconds);
      const compare = async (given: readonly DiffAnswer[]) =>
        compareDeclared(await writing.checked(), options, declared, given);
      const diff = await compare(answers);
      if (check === true) {
        checkTyped(diff, answers);
        return report(diff, schema, output);
      }
      if (diff.unsure.length > 0) outputDifference(diff, output);
      const { steps, answers: given } = await askUntilAnswered(diff, answers, compare, context);
      if (steps.length === 0) {
        output.data<typeof shapes.generate>({ steps: [] });
        output.result(`nothing to do: the migrations lead to the tables that ${schema} declares`);
        return undefined;
      }
      const notes = lostValues(steps);
      const confirmed = accept === undefined && areConfirmed(steps, given);
      const written = await writing.write({ name: name ?? nameOf(steps), steps, down, accept, confirmed, notes });
      const { file, lock } = written;
      output.data<typeof shapes.generate>({ file, steps: describeSteps(steps), lock });
      renderWritten(output, [file]);
      for (const words of describeSteps(steps)) output.result(`  ${words}`);
      renderUpdated(output, written);
      return undefined;
    });
  },
});

/** Whether all that the steps lose was answered: tables and columns that were dropped. A retype may lose something else. */
function areConfirmed(steps: readonly Step[], answers: readonly DiffAnswer[]): boolean {
  const drops = steps.filter(({ kind }) => kind === "dropColumn" || kind === "dropTable");
  const isConfirmed = (drop: Step) =>
    answers.some(
      ({ table, path, name, step }) =>
        name === undefined &&
        step === undefined &&
        table === drop.table &&
        path === ("path" in drop ? drop.path : undefined),
    );
  return drops.length > 0 && drops.every(isConfirmed) && steps.every(({ kind }) => kind !== "retypeColumn");
}

function outputDifference({ steps, unsure, impossible }: Diff, output: Output): boolean {
  const equal = steps.length + unsure.length + impossible.length === 0;
  const unanswered = unsure.map(questionOf);
  output.data<typeof shapes.generate>({ equal, steps: describeSteps(steps), unsure: unanswered, impossible });
  return equal;
}

function report(diff: Diff, file: string, output: Output): CommandResult {
  const { unsure, impossible } = diff;
  const steps = describeSteps(diff.steps);
  const equal = outputDifference(diff, output);
  const questions = unsure.map(questionOf);
  if (equal) {
    output.result(`equal: the migrations lead to the tables that ${file} declares`);
    return undefined;
  }
  const asked = questions.map(({ gone, names, note }) => goneWords(gone, names, note));
  for (const words of [...steps, ...asked, ...impossible]) output.result(words);
  const next =
    impossible.length > 0
      ? "no steps lead to them"
      : unsure.length > 0
        ? "migrate generate asks what became of what is gone; --rename and --drop-column answer that"
        : "migrate generate writes the next migration";
  output.problem(`the migrations do not lead to the tables that ${file} declares; ${next}`);
  return "pending";
}
