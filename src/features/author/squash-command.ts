import { rmSync } from "node:fs";
import { join } from "node:path";
import { count, MigrateError } from "../../errors/migrate-error.ts";
import { schemaRevisions } from "../../run/schema-history.ts";
import { formatMigration, formatVersion } from "../../migrations/file-name.ts";
import { planSquash, type SquashResult } from "./branch/plan-squash.ts";
import { checkedName, writeMigration } from "./scaffold/create-migration.ts";
import { fileKind } from "../shared/file-kind.ts";
import { openScratch } from "../../targets/index.ts";
import { derivedFiles } from "../../cli/command/additions.ts";
import { defineCommand, withAnySession } from "../../cli/command/command.ts";
import { nameArgument, switchFlag, versionFlag } from "../../cli/command/flags.ts";
import { writeLockOf } from "../shared/lock-file.ts";
import type { Output } from "../../cli/command/output.ts";
import { renderUpdated, shownPath } from "../shared/written-files.ts";
import type * as shapes from "./json.ts";

export const squashCommand = defineCommand({
  describe: "replace migrations by one file; databases that have applied them do not run it",
  examples: [
    ["migrate squash --to 12 --dry-run", "check whether 0001 to 0012 can be replaced"],
    ["migrate squash first_year --to 12", "replace them by 0012_first_year"],
  ],
  flags: {
    name: nameArgument("the name of the new migration (squashed)"),
    "dry-run": switchFlag("check whether it can be done, and print what the file would replace"),
    to: versionFlag("the last migration to replace"),
  },
  async run(context) {
    const { flags, output, features, underWay } = context;
    const { to, "dry-run": isDry } = flags;
    if (to === undefined)
      throw new MigrateError("ERR_USAGE", { problem: "migrate squash needs --to, the number of the last migration" });
    return await withAnySession(context, async (session) => {
      const { config, folder, options } = session;
      const name = checkedName(flags.name ?? "squashed");
      const result = await planSquash(options, { to, name }, openScratch);
      const { version, steps, replaces, accepts, migrations, kept, left, proven, unproven } = result;
      let file: string | undefined;
      let lock: string | undefined;
      let types: readonly string[] = [];
      if (isDry !== true) {
        underWay(true);
        const path = join(folder, `${formatMigration({ version, name })}.${fileKind(config)}`);
        const derived = await derivedFiles(features);
        // With the history file, TypeScript checks what is in after(…).
        const after = derived.history(session) === undefined ? undefined : formatVersion(0);
        file = await writeMigration(path, { project: config, name, steps, replaces, accepts, after });
        for (const one of migrations) rmSync(one.path);
        const revisions = await schemaRevisions(options);
        lock = writeLockOf(session, revisions);
        types = await derived.update(session, async () => revisions, output);
      }
      output.data<typeof shapes.squash>({ file, replaces, steps: steps.length, kept, left, proven, unproven, lock });
      report(result, file, output);
      renderUpdated(output, { lock, types });
      return undefined;
    });
  },
});

function report(result: SquashResult, file: string | undefined, output: Output): void {
  const { migrations, steps, kept, left, proven, unproven } = result;
  const before = migrations.reduce((sum, one) => sum + one.steps.length, 0);
  const what = `${count(migrations.length, "migration")} with ${count(before, "step")}`;
  output.result(
    file === undefined
      ? `${what} would be one with ${count(steps.length, "step")}`
      : `wrote ${shownPath(file)}: ${what} are one with ${count(steps.length, "step")}`,
  );
  if (proven !== undefined) output.result(`on the engine both make the same: ${count(proven, "table")}`);
  if (unproven !== undefined)
    output.result(`note: the engine could not be asked, as they do not run on an empty database: ${unproven}`);
  for (const table of kept) output.result(`note: the steps of ${table} stay as they were, as they bring rows`);
  for (const words of left) output.result(`note: not in it: ${words}`);
}
