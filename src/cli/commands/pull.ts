import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import { z } from "zod";
import { count, MigrateError } from "../../errors/migrate-error.ts";
import { pull } from "../../commands/adopt/pull.ts";
import { commonSchema, parseFlags, withSession, type Command } from "../command/command.ts";
import { done } from "../command/exit-code.ts";
import { describeSteps } from "../render/steps.ts";
import { authoring, writingNext } from "../project/write-migration.ts";

const tableName = z.string("--except is given without a value").min(1, "--except needs the name of a table");
const pullFlags = commonSchema.extend({
  name: z.string("the name is given twice").default("adopt"),
  except: z
    .union([tableName, z.array(tableName)], "--except needs the name of a table")
    .default([])
    .transform((given) => [given].flat()),
});

export const pullCommand: Command = {
  usage: "pull [name]",
  describe: "write the first migration and schema.ts for an existing database without migrations",
  flags: (cli) =>
    cli
      .positional("name", { type: "string", describe: "what the migration is called (adopt)" })
      .option("except", { type: "string", describe: "leave out this table; may be given several times" }),
  async run(context) {
    const { flags, output } = context;
    const { name, except } = parseFlags(pullFlags, flags);
    return await withSession(context, {}, async (session) => {
      const { folder, schema } = session.config;
      const path = resolve(folder, schema);
      const options = authoring(session);
      const { steps, left, tables } = await pull(options, except);
      if (existsSync(path))
        throw new MigrateError("ERR_ADOPT_REFUSED", {
          problem: `${schema} exists already`,
          hint: "rename it, or name another file as schema in the configuration; migrate generate writes migrations from it as it is",
        });
      const writing = writingNext(session, context);
      writing.checkName(name);
      const { createSchemaWith } = await import("../../scaffold/create-schema.ts");
      const file = await createSchemaWith({ folder, path, tables }, () => writing.write({ name, steps }));
      output.data({ file, schema: path, tables: [...tables.keys()], steps: describeSteps(steps), left });
      output.result(
        `wrote ${relative(process.cwd(), file)} and ${relative(process.cwd(), path)}: ${count(tables.size, "table")}`,
      );
      for (const words of describeSteps(steps)) output.result(`  ${words}`);
      for (const words of left) output.progress(`note: not pulled: ${words}`);
      output.result(
        `next: migrate baseline marks it as applied on ${options.target.name}; migrate up runs it anywhere else`,
      );
      return done;
    });
  },
};
