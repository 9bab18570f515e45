import { z } from "zod";
import { count } from "../../errors/migrate-error.ts";
import { prune, type KeptPoint } from "../../commands/prune.ts";
import { parseFlags, switchFlag, versionFlag, withSession, type Command } from "../command/command.ts";
import { done } from "../command/exit-code.ts";

const pruneFlags = z.looseObject({ yes: switchFlag, to: versionFlag.optional() });

export const pruneCommand: Command = {
  usage: "prune",
  describe: "list the old table versions that are kept for down, and with --yes release them",
  switches: { yes: "release them" },
  flags: (cli) => cli.option("to", { type: "string", describe: "only those of migrations up to this number" }),
  async run(context) {
    const { output } = context;
    const { yes, to } = parseFlags(pruneFlags, context.flags);
    const [found, target] = await withSession(context, {}, async ({ options }) => [
      await prune(options, { yes, to }),
      options.target.name,
    ]);
    const pruned = yes === true;
    output.data({ target, kept: found, pruned });
    for (const point of found) output.result(lineOf(point));
    output.result(summaryOf(found, pruned, target));
    return done;
  },
};

function lineOf({ name, migration, table, version, isNeeded }: KeptPoint): string {
  const before = migration ?? `${name}, to which no rollback goes back`;
  return `version ${version} of ${table}, from before ${before}${isNeeded ? "; needed until what has begun is done" : ""}`;
}

function summaryOf(found: readonly KeptPoint[], pruned: boolean, target: string): string {
  if (found.length === 0) return `no old versions are kept on ${target}`;
  const free = found.filter(({ isNeeded }) => !isNeeded).length;
  if (free === 0) return "no version can be released now";
  if (pruned) return `${count(free, "version")} released; the next optimize of the tables deletes what only they used`;
  return `${count(free, "version")} can be released with migrate prune --yes; after that, down may be unable to restore them`;
}
