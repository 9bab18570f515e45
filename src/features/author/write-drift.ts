/** `migrate verify --write` */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { withSession, type Context } from "../../cli/command/command.ts";
import type { CommandResult } from "../../cli/command/exit-code.ts";
import { defineExtension } from "../../cli/command/feature.ts";
import { nameArgument, switchFlag } from "../../cli/command/flags.ts";
import { renderDifferences } from "../../cli/commands/verify.ts";
import { answerFlags, askUntilAnswered, checkTyped, nameOf, typedAnswers } from "./input/diff-answers.ts";
import { writingNext } from "./scaffold/write-migration.ts";
import { describeSteps, renderUpdated, renderWritten } from "../shared/written-files.ts";
import { findDrift } from "./adopt/adopt-drift.ts";
import type { DiffAnswer } from "./generate/diff-columns.ts";
import { MigrateError } from "../../errors/migrate-error.ts";
import { differenceDocument } from "../../plan/history/table-drift.ts";
import { schemaFile } from "../shared/file-kind.ts";
import type * as shapes from "./json.ts";

export const writeDrift = defineExtension({
  examples: [["migrate verify --write", "write the migration that leads to the current tables"]],
  flags: {
    name: nameArgument("with --write: the name of the migration; by default made from the steps"),
    write: switchFlag("write the migration that leads to the current tables"),
    ...answerFlags,
  },
  conflicts: [
    ["ledger", "write"],
    ["bundle", "write"],
  ],
  async run(context, rest) {
    const { name, write } = context.flags;
    if (write === true) return await adoptTheTables(context, name);
    if (name !== undefined || typedAnswers(context).length > 0)
      throw new MigrateError("ERR_USAGE", {
        problem: `migrate verify takes ${name === undefined ? "answers about columns and tables" : "a name"} only with --write`,
      });
    return await rest();
  },
});

async function adoptTheTables(context: Context, name: string | undefined): Promise<CommandResult> {
  const { output } = context;
  const answers = typedAnswers(context);
  return await withSession(context, async (session) => {
    const { config, options } = session;
    const target = options.target.name;
    const { differences, adopt } = await findDrift(options);
    renderDifferences(differences, context);
    if (differences.length === 0) {
      checkTyped(adopt(answers), answers);
      output.data<typeof shapes.verify>({ target, differences: [], steps: [], left: [] });
      output.result(`nothing to write: the tables of ${target} are as the ledger records`);
      return undefined;
    }
    const compare = async (given: readonly DiffAnswer[]) => adopt(given);
    const { steps, left } = await askUntilAnswered(await compare(answers), answers, compare, context);
    const written = await writingNext(session, context).write({ name: name ?? nameOf(steps), steps });
    const { file, lock } = written;
    output.data<typeof shapes.verify>({
      target,
      differences: differences.map(differenceDocument),
      file,
      steps: describeSteps(steps),
      left,
      lock,
    });
    renderWritten(output, [file]);
    for (const words of describeSteps(steps)) output.result(`  ${words}`);
    renderUpdated(output, written);
    for (const words of left) output.progress(`note: not written: ${words}`);
    const schema = schemaFile(config);
    if (existsSync(resolve(config.folder, schema)))
      output.progress(`note: ${schema} must declare the same; migrate generate --check compares it`);
    output.result(
      `next: migrate baseline marks the migration as applied on ${target}; migrate up runs it on any other database`,
    );
    return undefined;
  });
}
