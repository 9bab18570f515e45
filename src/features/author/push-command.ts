import { resolve } from "node:path";
import type { DiffAnswer } from "./generate/diff-columns.ts";
import { planPush } from "./push/plan-push.ts";
import { push } from "./push/push.ts";
import { checkPushAllowed } from "./push/push-allowed.ts";
import { count } from "../../errors/migrate-error.ts";
import { loadSchema } from "../shared/load-schema.ts";
import { checkRefusals } from "../../plan/assess/guards.ts";
import { planDocument } from "../../plan/document/plan-document.ts";
import { survey } from "../../run/prepare/estimate.ts";
import { schemaFile } from "../shared/file-kind.ts";
import { defineCommand, withSession } from "../../cli/command/command.ts";
import { acceptFlag, leaseFlags, switchFlag } from "../../cli/command/flags.ts";
import type { Output } from "../../cli/command/output.ts";
import { answerFlags, askUntilAnswered, typedAnswers } from "./input/diff-answers.ts";
import { authoring } from "../shared/authoring.ts";
import { runEvents } from "../../cli/render/events.ts";
import { renderDifference } from "../../cli/render/plan.ts";
import type * as shapes from "./json.ts";

export const pushCommand = defineCommand({
  describe: "for prototyping: apply schema.ts to a target that allows it, without a migration",
  examples: [
    ["migrate push --dry-run", "show what leads from the tables to schema.ts"],
    ["migrate push --drop-column documents.draft --accept lossy", "apply it, and consent to losing data"],
  ],
  stopping: "stopping after the current action; the next push does the rest",
  flags: {
    "dry-run": switchFlag("show the plan and change nothing"),
    accept: acceptFlag("consent to losing data in this run: lossy or irreversible"),
    ...answerFlags,
    ...leaseFlags,
  },
  async run(context) {
    const { output, flags } = context;
    const { accept, "dry-run": isDry = false, "load-timeout": loadSeconds } = flags;
    const typed = typedAnswers(context);
    await withSession(
      context,
      async (session) => {
        checkPushAllowed(session, "write a migration with migrate generate");
        const options = authoring(session);
        const { name } = options.target;
        const schema = schemaFile(session.config);
        const declared = await loadSchema(resolve(session.config.folder, schema), loadSeconds);
        let answers = typed;
        const compare = async (given: readonly DiffAnswer[]) => {
          answers = given;
          return await planPush(options, { declared, answers: given, accept });
        };
        const made = await askUntilAnswered(await compare(typed), typed, compare, context);
        const { plan, steps } = made;
        const document = planDocument(plan, name, "up", await survey(plan, options));
        output.data<typeof shapes.push>({ ...document, later: made.later, others: made.others, dryRun: isDry });
        renderDifference(document, output);
        printNotes(made, output);
        checkRefusals(plan, name, "migrate push");
        if (steps.length === 0) output.result(`nothing to do: the tables of ${name} are as ${schema} declares`);
        else if (isDry) output.result(`${count(steps.length, "step")} would run on ${name}; nothing was changed`);
        else {
          await push(options, { declared, answers, accept }, steps);
          output.result(
            `pushed ${count(steps.length, "step")} to ${name}; to keep them, write the migration with migrate generate, and mark it as applied there with migrate baseline`,
          );
        }
      },
      runEvents(context),
    );
    return undefined;
  },
});

function printNotes(
  { later, others, unlike }: Pick<Awaited<ReturnType<typeof planPush>>, "later" | "others" | "unlike">,
  output: Output,
): void {
  for (const words of later) output.progress(`note: left until the table has enough rows: ${words}`);
  if (others.length > 0)
    output.progress(`note: in neither the migrations nor the schema, so left alone: ${others.join(", ")}`);
  for (const words of unlike)
    output.progress(
      `note: migrate baseline will not accept what migrate generate writes: ${words}; give the schema the order of the table, or recreate the table`,
    );
}
