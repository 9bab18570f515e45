import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pull } from "../../commands/adopt/pull.ts";
import { count, MigrateError } from "../../errors/migrate-error.ts";
import { defineCommand, withSession } from "../command/command.ts";
import { flag, nameArgument, wrongFlag } from "../command/flags.ts";
import { authoring, writingNext } from "../project/write-migration.ts";
import { describeSteps, shownPath } from "../render/steps.ts";

/** The texts of a flag that was given once or several times. */
function tableNames(typed: unknown): readonly string[] {
  const names = [typed].flat();
  const isName = (name: unknown): name is string => typeof name === "string" && name !== "";
  return names.every(isName) ? names : wrongFlag("needs the name of a table");
}

export const pullCommand = defineCommand({
  usage: "pull [name]",
  describe: "write the first migration and schema.ts for an existing database without migrations",
  flags: {
    name: nameArgument("the name of the migration (adopt)"),
    except: flag("value", "leave out this table; may be given several times", tableNames),
  },
  async run(context) {
    const { flags, output } = context;
    const { name = "adopt", except = [] } = flags;
    return await withSession(context, async (session) => {
      const { folder, schema } = session.config;
      const path = resolve(folder, schema);
      const options = authoring(session);
      const { steps, left, tables } = await pull(options, except);
      if (existsSync(path))
        throw new MigrateError("ERR_ADOPT_REFUSED", {
          problem: `${schema} exists already`,
          hint: "rename it, or set schema in the configuration to another file; to keep it and write migrations from it, use migrate generate",
        });
      const writing = writingNext(session, context);
      writing.checkName(name);
      const { createSchemaWith } = await import("../../scaffold/create-schema.ts");
      const file = await createSchemaWith({ folder, path, tables }, () => writing.write({ name, steps }));
      output.data({ file, schema: path, tables: [...tables.keys()], steps: describeSteps(steps), left });
      output.result(`wrote ${shownPath(file)} and ${shownPath(path)}: ${count(tables.size, "table")}`);
      for (const words of describeSteps(steps)) output.result(`  ${words}`);
      for (const words of left) output.progress(`note: not pulled: ${words}`);
      output.result(
        `next: migrate baseline marks the migration as applied on ${options.target.name}; migrate up runs it on any other database`,
      );
      return undefined;
    });
  },
});
