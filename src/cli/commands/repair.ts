import { z } from "zod";
import type { RunEvent } from "../../run/events.ts";
import { repair } from "../../commands/repair/repair.ts";
import {
  leaseFlags,
  leaseSchema,
  parseFlags,
  switchFlag,
  tellUnderWay,
  withSession,
  type Command,
} from "../command/command.ts";
import { amiss, done, exitCodeOf } from "../command/exit-code.ts";
import { renderEvent } from "../render/events.ts";

const repairFlags = leaseSchema.extend({
  yes: switchFlag,
  to: z
    .string("--to is given twice or without a value")
    .regex(
      /^(start|\d+(\.[1-9]\d*)?)$/,
      "--to must be the number of a migration, such as 0003, or 0003.2 for two of its actions, or start for before the first",
    )
    .optional(),
});

export const repairCommand: Command = {
  usage: "repair",
  describe: "report what is wrong with the ledger, and with --yes repair it; changes no table",
  switches: { yes: "carry out the repairs" },
  flags: (cli) =>
    leaseFlags(
      cli.option("to", {
        type: "string",
        describe: "how far the tables are migrated, if they fit several places in the history",
      }),
    ),
  async run(context) {
    const { flags, output, underWay } = context;
    const { yes, to, wait, lease } = parseFlags(repairFlags, flags);
    const emit = (event: RunEvent) => {
      tellUnderWay(event, underWay);
      renderEvent(event, output);
    };
    const [found, target] = await withSession(
      context,
      { emit, waitSeconds: wait, leaseSeconds: lease },
      async ({ options }) => [await repair(options, { yes, to }), options.target.name],
    );
    const { sees, does, words, done: wasDone, refusal } = found;
    output.data({
      target,
      sees: sees.map((line) => line.trim()),
      does,
      words,
      done: wasDone,
      refusal: refusal === undefined ? undefined : { code: refusal.code, message: refusal.message },
    });
    for (const line of sees) output.result(line);
    if (refusal !== undefined) {
      output.problem(refusal.message);
      return exitCodeOf(refusal);
    }
    output.result(words);
    if (does === "nothing") return done;
    output.result(
      wasDone ? "done; migrate up resumes from there" : "nothing was changed; migrate repair --yes does it",
    );
    return wasDone ? done : amiss;
  },
};
