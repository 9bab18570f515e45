import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { MigrateError } from "../../errors/migrate-error.ts";
import { bundleName, bundleText, isBundle } from "./bundle.ts";
import { afterProblems } from "../shared/check-after.ts";
import { loadMigrations } from "../../migrations/source.ts";
import { readGenerated, writeGenerated } from "../../migrations/generated-file.ts";
import { checkTarget } from "../../session/open-target.ts";
import { openProject } from "../../session/session.ts";
import { defineCommand } from "../../cli/command/command.ts";
import { switchFlag, textFlag } from "../../cli/command/flags.ts";
import { renderWritten, shownPath } from "../shared/written-files.ts";
import type * as shapes from "./json.ts";

export const buildCommand = defineCommand({
  describe: "write all migrations to one file, for commands with --bundle: they need no migration files",
  examples: [
    ["migrate build", "write migrations.bundle.json"],
    ["migrate build --out dist/migrations.json", "write another file, for migrate up --bundle dist/migrations.json"],
    ["migrate build --check", "in CI: exit with 3 if the file is out of date"],
  ],
  exits: { pending: "with --check: the file is missing or out of date" },
  flags: {
    out: textFlag(`the file to write (${bundleName} beside the configuration)`, { value: "FILE" }),
    check: switchFlag("write nothing; exit with 3 if the file is missing or out of date"),
  },
  async run({ flags, features, output, underWay }) {
    const { config: file, "load-timeout": loadSeconds, out, check, target, database } = flags;
    if (database !== undefined)
      throw new MigrateError("ERR_USAGE", {
        problem: "migrate build is the same for all databases: leave --database out",
      });
    const { config, migrations: source } = await openProject({ config: file, loadSeconds }, features);
    if (target !== undefined) checkTarget(config, target);
    const path = out === undefined ? resolve(config.folder, bundleName) : resolve(out);
    const loaded = await loadMigrations(source, source.list());
    for (const problem of afterProblems(loaded)) throw problem;
    const text = bundleText(loaded);
    const migrations = loaded.length;
    const found = readOurs(path);
    // With LF line ends, because the checkout determines them.
    const isWritten = found?.replaceAll("\r\n", "\n") === text;
    const shown = shownPath(path);
    if (check === true) {
      output.data<typeof shapes.build>({ file: shown, migrations, stale: !isWritten });
      if (isWritten) output.result(`equal: ${shown} is up to date`);
      else
        output.problem(
          `${shown} is ${found === undefined ? "missing" : "out of date"}; migrate build${out === undefined ? "" : ` --out ${out}`} writes it`,
        );
      return isWritten ? undefined : "pending";
    }
    if (!isWritten) {
      underWay(true);
      writeGenerated(path, text, "ERR_BUNDLE_FILE");
    }
    output.data<typeof shapes.build>({ file: shown, migrations, written: !isWritten });
    if (isWritten) output.result(`nothing to do: ${shown} is up to date`);
    else renderWritten(output, [path]);
    return undefined;
  },
});

/** The text of the file, if it exists. Throws ERR_BUNDLE_FOREIGN if `migrate build` did not write it. */
function readOurs(path: string): string | undefined {
  const text = existsSync(path) ? readGenerated(path, "ERR_BUNDLE_FILE") : undefined;
  if (text !== undefined && !isBundle(text)) throw new MigrateError("ERR_BUNDLE_FOREIGN", { file: shownPath(path) });
  return text;
}
