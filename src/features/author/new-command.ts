import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { MigrateError } from "../../errors/migrate-error.ts";
import { schemaFile } from "../shared/file-kind.ts";
import { defineCommand, withAnySession } from "../../cli/command/command.ts";
import { acceptFlag, nameArgument, switchFlag } from "../../cli/command/flags.ts";
import { askSteps } from "./input/prompt-steps.ts";
import { canAsk } from "../../cli/input/prompt.ts";
import { stepFlagTable, typedSteps } from "./input/step-flags.ts";
import { writingNext } from "./scaffold/write-migration.ts";
import { renderUpdated, renderWritten, shownPath } from "../shared/written-files.ts";
import type * as shapes from "./json.ts";

export const newCommand = defineCommand({
  describe: "write the next migration file, with the given steps",
  examples: [
    ["migrate new create_documents --create-table 'documents(id int64, title utf8)'", "create a table"],
    ["migrate new add_tags --add-column 'documents.tags:list<utf8>'", "add a column"],
    [
      "migrate new rename_titles --rename documents.title:headline --down",
      "rename a column, and also write the rollback",
    ],
    ["migrate new clean_up", "write a file without steps, to fill in by hand"],
  ],
  flags: {
    name: nameArgument("the name of the migration, such as add_headlines"),
    down: switchFlag("also write the steps of the rollback"),
    accept: acceptFlag("the consent to write into the file: lossy or irreversible"),
    ...stepFlagTable(),
  },
  async run(context) {
    const { flags, output } = context;
    const { name, down, accept } = flags;
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
    const { written, schema } = await withAnySession(context, async (session) => {
      const writing = writingNext(session, context);
      const next = name === undefined ? await askSteps(context, writing) : { name, steps };
      const { config } = session;
      return {
        written: await writing.write({ ...next, down, accept }),
        schema: resolve(config.folder, schemaFile(config)),
      };
    });
    const { file, lock } = written;
    output.data<typeof shapes.new>({ file, lock });
    renderWritten(output, [file]);
    renderUpdated(output, written);
    if (existsSync(schema))
      output.progress(`note: ${shownPath(schema)} is as before; migrate pull --schema brings it up to date`);
    return undefined;
  },
});
