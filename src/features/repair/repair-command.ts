import { repair } from "./repair/repair.ts";
import { defineCommand, withTarget } from "../../cli/command/command.ts";
import { bundleFlags, leaseFlags, patternFlag, switchFlag } from "../../cli/command/flags.ts";
import { runEvents } from "../../cli/render/events.ts";
import type * as shapes from "./json.ts";

export const repairCommand = defineCommand({
  describe: "report what is wrong with the ledger; with --yes, repair it; changes no table",
  examples: [
    ["migrate repair", "report what is wrong, and change nothing"],
    ["migrate repair --yes", "repair it"],
  ],
  exits: { refused: "a problem was found and not repaired" },
  flags: {
    yes: switchFlag("repair the ledger"),
    to: patternFlag(
      "how far the tables are migrated, if they match several places in the history",
      /^(start|\d+(\.[1-9]\d*)?)$/,
      "must be the number of a migration, such as 0003, or 0003.2 for two of its actions, or start for before the first",
      { value: "NUMBER" },
    ),
    ...bundleFlags,
    ...leaseFlags,
  },
  async run(context) {
    const { output, flags } = context;
    const { yes, to } = flags;
    const [{ sees, does, words, done, refusal }, target] = await withTarget(
      context,
      (options) => repair(options, { yes, to }),
      runEvents(context),
    );
    output.data<typeof shapes.repair>({
      target,
      sees: sees.map((line) => line.trim()),
      does,
      words,
      done,
      refusal: refusal && { code: refusal.code, message: refusal.message },
    });
    for (const line of sees) output.result(line);
    if (refusal !== undefined) return refusal;
    output.result(words);
    if (does === "nothing") return undefined;
    output.result(
      done
        ? "done; migrate up resumes from there"
        : `nothing was changed; migrate repair ${to === undefined ? "" : `--to ${to} `}--yes does it`,
    );
    return done ? undefined : "refused";
  },
});
