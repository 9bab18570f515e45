import { prune, type KeptPoint } from "../../commands/prune.ts";
import { count } from "../../errors/migrate-error.ts";
import { defineCommand, withTarget } from "../../cli/command/command.ts";
import { switchFlag, versionFlag } from "../../cli/command/flags.ts";
import type * as shapes from "./json.ts";

export const pruneCommand = defineCommand({
  describe: "list the old table versions that are kept for down; with --yes, release them",
  examples: [
    ["migrate prune", "list the old versions"],
    ["migrate prune --to 12 --yes", "release those kept for migrations up to 0012"],
  ],
  flags: {
    yes: switchFlag("release them"),
    to: versionFlag("only versions kept for migrations up to this number"),
  },
  async run(context) {
    const { output } = context;
    const { yes: pruned = false, to } = context.flags;
    const [kept, target] = await withTarget(context, (options) => prune(options, { yes: pruned, to }));
    output.data<typeof shapes.prune>({ target, kept, pruned });
    for (const point of kept) output.result(lineOf(point));
    output.result(summaryOf(kept, pruned, target));
    return undefined;
  },
});

function lineOf({ name, migration, table, version, isGone, isNeeded }: KeptPoint): string {
  const before = migration ?? `${name}, which no rollback needs`;
  const gone = isGone ? "; gone: a clean-up has deleted it, so down can't restore it" : "";
  return `version ${version} of ${table}, from before ${before}${gone}${isNeeded ? "; needed until the unfinished migration is done" : ""}`;
}

function summaryOf(kept: readonly KeptPoint[], pruned: boolean, target: string): string {
  if (kept.length === 0) return `no old versions are kept on ${target}`;
  const free = kept.filter(({ isNeeded }) => !isNeeded).length;
  if (free === 0) return "no version can be released now";
  if (pruned) return `${count(free, "version")} released; the next optimize of the tables deletes what only they used`;
  return `${count(free, "version")} can be released with migrate prune --yes; after that, down may be unable to restore them`;
}
