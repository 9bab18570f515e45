import { baseline } from "./baseline.ts";
import { count } from "../../errors/migrate-error.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import { defineCommand, withTarget } from "../../cli/command/command.ts";
import { bundleFlags, leaseFlags, switchFlag, versionFlag } from "../../cli/command/flags.ts";
import { onlyNamesCompared, runEvents } from "../../cli/render/events.ts";
import type * as shapes from "./json.ts";

export const baselineCommand = defineCommand({
  describe: "mark migrations as applied without running them, if the tables already match",
  examples: [
    ["migrate baseline --dry-run", "print which migrations would be marked"],
    ["migrate baseline --to 1", "mark 0001, such as the migration of migrate pull"],
  ],
  flags: {
    "dry-run": switchFlag("print what would be marked, and mark nothing"),
    to: versionFlag("mark migrations up to this number only"),
    ...bundleFlags,
    ...leaseFlags,
  },
  async run(context) {
    const { output, flags } = context;
    const { to, "dry-run": dryRun = false } = flags;
    const [{ migrations, columns }, target] = await withTarget(
      context,
      (options) => baseline(options, { to, dryRun }),
      runEvents(context),
    );
    output.data<typeof shapes.baseline>({ target, migrations, columns, done: !dryRun });
    if (migrations.length === 0) {
      output.result("nothing to mark: no migration is pending");
      return undefined;
    }
    for (const one of migrations) output.result(`${dryRun ? "would mark" : "marked"} ${formatMigration(one)}`);
    if (!columns) output.result(onlyNamesCompared(target));
    const what = count(migrations.length, "migration");
    output.result(
      dryRun
        ? `${what} would be marked on ${target}; nothing was changed`
        : `${what} marked as applied on ${target}; none was run`,
    );
    return undefined;
  },
});
