import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pull } from "./adopt/pull.ts";
import { count, MigrateError } from "../../errors/migrate-error.ts";
import { databaseAfter, schemaRevisions } from "../../run/schema-history.ts";
import type { Session } from "../../session/session.ts";
import { schemaFile } from "../shared/file-kind.ts";
import { defineCommand, withAnySession, withSession, type Context } from "../../cli/command/command.ts";
import { flag, nameArgument, switchFlag, wrongFlag } from "../../cli/command/flags.ts";
import { writingNext } from "./scaffold/write-migration.ts";
import { authoring } from "../shared/authoring.ts";
import { describeSteps, renderUpdated, shownPath } from "../shared/written-files.ts";
import type * as shapes from "./json.ts";

/** The texts of a flag that was given once or several times. */
function tableNames(typed: unknown): readonly string[] {
  const names = [typed].flat();
  const isName = (name: unknown): name is string => typeof name === "string" && name !== "";
  return names.every(isName) ? names : wrongFlag("needs the name of a table");
}

export const pullCommand = defineCommand({
  describe: "write the first migration and schema.ts for an existing database without migrations",
  examples: [
    ["migrate pull", "write migrations/0001_adopt.ts and schema.ts"],
    ["migrate pull --schema", "bring schema.ts up to date after a migration that was written with migrate new"],
    ["migrate pull --target production --except logs", "from another target, without the table logs"],
  ],
  flags: {
    name: nameArgument("the name of the migration (adopt)"),
    schema: switchFlag("write schema.ts again from what the migrations lead to, instead of pulling a database"),
    yes: switchFlag("with --schema: replace the file even if it has comments or code of its own"),
    except: flag("value", "leave out this table; may be given several times", tableNames, { value: "TABLE" }),
  },
  conflicts: [["schema", "name", "except"]],
  async run(context) {
    const { flags, output } = context;
    const { name = "adopt", except = [], schema, yes } = flags;
    if (yes === true && schema !== true) throw new MigrateError("ERR_USAGE", { problem: "--yes needs --schema" });
    if (schema === true) return await refreshSchema(context, yes === true);
    return await withSession(context, async (session) => {
      await pullInto(session, context, name, except);
      const { target } = session.options;
      output.result(
        `next: migrate baseline marks the migration as applied on ${target.name}; migrate up runs it on any other database`,
      );
      return undefined;
    });
  },
});

/** Writes the migration and the schema, and prints what they are. Gives the paths. */
export async function pullInto(
  session: Session,
  context: Pick<Context, "output" | "features" | "underWay">,
  name: string,
  except: readonly string[],
): Promise<readonly string[]> {
  const { config } = session;
  const schema = schemaFile(config);
  const path = resolve(config.folder, schema);
  const options = authoring(session);
  const { steps, left, tables } = await pull(options, except);
  if (existsSync(path))
    throw new MigrateError("ERR_ADOPT_REFUSED", {
      problem: `${schema} exists already`,
      hint: "rename it, or set schema in the configuration to another file; to keep it and write migrations from it, use migrate generate",
    });
  const { output } = context;
  const writing = writingNext(session, context);
  writing.checkName(name);
  const { createSchemaWith } = await import("./scaffold/create-schema.ts");
  const written = await createSchemaWith({ project: config, path, tables }, () => writing.write({ name, steps }));
  const { file, lock, types } = written;
  output.data<typeof shapes.pull>({
    file,
    schema: path,
    tables: [...tables.keys()],
    steps: describeSteps(steps),
    left,
    lock,
  });
  output.result(`wrote ${shownPath(file)} and ${shownPath(path)}: ${count(tables.size, "table")}`);
  for (const words of describeSteps(steps)) output.result(`  ${words}`);
  renderUpdated(output, written);
  for (const words of left) output.progress(`note: not pulled: ${words}`);
  return [file, path, lock ?? [], types].flat();
}

/** Writes the schema from what the migrations lead to. Touches no database. */
async function refreshSchema(context: Context, isSure: boolean): Promise<undefined> {
  const { output } = context;
  await withAnySession(context, async ({ config, options }) => {
    const path = resolve(config.folder, schemaFile(config));
    const tables = databaseAfter(await schemaRevisions(options));
    const { rewriteSchema } = await import("./scaffold/create-schema.ts");
    context.underWay(true);
    await rewriteSchema({ project: config, path, tables, isSure });
    output.data<typeof shapes.pull>({ schema: path, tables: [...tables.keys()] });
    output.result(`wrote ${shownPath(path)}: ${count(tables.size, "table")}`);
  });
  return undefined;
}
