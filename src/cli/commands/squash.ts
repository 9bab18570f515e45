import { relative } from "node:path";
import { z } from "zod";
import { count, MigrateError } from "../../errors/migrate-error.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import { planSquash, type SquashResult } from "../../commands/branch/plan-squash.ts";
import { openScratch } from "../../targets/index.ts";
import { parseFlags, switchFlag, versionFlag, withSession, type Command } from "../command/command.ts";
import { done } from "../command/exit-code.ts";
import { writeLockOf } from "../project/update-schema-lock.ts";
import type { Output } from "../command/output.ts";
import { knownHistory, updateTypes } from "../project/update-types.ts";

const squashFlags = z.looseObject({
  name: z.string("the name is given twice").optional(),
  to: versionFlag.optional(),
  "dry-run": switchFlag,
});

export const squashCommand: Command = {
  usage: "squash [name]",
  describe: "squash migrations into one file; databases that have applied them do not run it",
  switches: { "dry-run": "check that it can be done, and say what it would be" },
  flags: (cli) =>
    cli
      .positional("name", { type: "string", describe: "what the file is called; squashed when absent" })
      .option("to", { type: "string", describe: "the last of them" }),
  async run(context) {
    const { flags, output, underWay } = context;
    const { name = "squashed", to, "dry-run": isDry } = parseFlags(squashFlags, flags);
    if (to === undefined)
      throw new MigrateError("ERR_USAGE", { problem: "migrate squash needs --to, the number of the last migration" });
    return await withSession(context, {}, async (session) => {
      const { config, folder, options } = session;
      const result = await planSquash(options, to, openScratch);
      const { version, steps, replaces, accepts, migrations: old } = result;
      let file: string | undefined;
      if (isDry !== true) {
        underWay(true);
        const scaffold = await import("../../scaffold/squash-migrations.ts");
        const wanted = { folder: config.folder, migrations: folder, name, version, steps, replaces, accepts, old };
        file = await scaffold.squashMigrations({ ...wanted, isTyped: knownHistory(session) !== undefined });
        await writeLockOf(session);
        await updateTypes(session, options, output);
      }
      const { kept, left, proven, unproven } = result;
      output.data({ file, replaces, steps: steps.length, kept, left, proven, unproven });
      report(result, file, output);
      return done;
    });
  },
};

function report(result: SquashResult, file: string | undefined, output: Output): void {
  const { migrations, steps, kept, left, proven, unproven } = result;
  const before = migrations.reduce((sum, one) => sum + one.steps.length, 0);
  const what = `${count(migrations.length, "migration")} with ${count(before, "step")}`;
  output.result(
    file === undefined
      ? `${what} would be one with ${count(steps.length, "step")}`
      : `wrote ${relative(process.cwd(), file)}: ${what} are one with ${count(steps.length, "step")}`,
  );
  if (proven !== undefined) output.result(`on the engine both make the same: ${count(proven, "table")}`);
  if (unproven !== undefined)
    output.result(`note: the engine could not be asked, as they do not run on an empty database: ${unproven}`);
  for (const table of kept) output.result(`note: the steps of ${table} stay as they were, as they bring rows`);
  for (const words of left) output.result(`note: not in it: ${words}`);
  const renamed = migrations.filter(({ replaces }) => replaces !== undefined);
  for (const one of renamed)
    output.result(
      `note: a database that knows ${formatMigration(one)} by older names must run migrate up before it gets this file`,
    );
}
