import { count } from "../../errors/migrate-error.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import { baseline } from "../../commands/adopt/baseline.ts";
import type { RunEvent } from "../../run/events.ts";
import {
  leaseFlags,
  leaseSchema,
  parseFlags,
  switchFlag,
  tellUnderWay,
  versionFlag,
  withSession,
  type Command,
} from "../command/command.ts";
import { done } from "../command/exit-code.ts";
import { renderEvent } from "../render/events.ts";

const baselineFlags = leaseSchema.extend({ to: versionFlag.optional(), "dry-run": switchFlag });

export const baselineCommand: Command = {
  usage: "baseline",
  describe: "mark migrations as applied without running them, if the tables already match",
  switches: { "dry-run": "print what would be marked, and mark nothing" },
  flags: (cli) => leaseFlags(cli.option("to", { type: "string", describe: "mark up to this number only" })),
  async run(context) {
    const { flags, output, underWay } = context;
    const { to, "dry-run": dryRun = false, wait, lease } = parseFlags(baselineFlags, flags);
    const emit = (event: RunEvent) => {
      tellUnderWay(event, underWay);
      renderEvent(event, output);
    };
    const [{ migrations, columns }, target] = await withSession(
      context,
      { emit, waitSeconds: wait, leaseSeconds: lease },
      async ({ options }) => [await baseline(options, { to, dryRun }), options.target.name],
    );
    output.data({ target, migrations, columns, done: !dryRun });
    if (migrations.length === 0) {
      output.result("nothing to mark: no migration is pending");
      return done;
    }
    for (const one of migrations) output.result(`${dryRun ? "would mark" : "marked"} ${formatMigration(one)}`);
    if (!columns) output.result(`${target} can't describe its tables: only whether they are there was compared`);
    output.result(
      dryRun
        ? `${count(migrations.length, "migration")} to be marked on ${target}; nothing was changed`
        : `${count(migrations.length, "migration")} of ${target} marked as applied; none of them ran`,
    );
    return done;
  },
};
