import { resolve, type Resolution } from "./resolve/resolve.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import { defineCommand, withTarget, type Context } from "../../cli/command/command.ts";
import { bundleFlags, leaseFlags, patternFlag, switchFlag } from "../../cli/command/flags.ts";
import { atTerminal, canAsk, isYes } from "../../cli/input/prompt.ts";
import { differenceDocument } from "../../plan/history/table-drift.ts";
import { runEvents } from "../../cli/render/events.ts";
import type * as shapes from "./json.ts";

const migrationFlag = (alias: string, describe: string) =>
  patternFlag(describe, /^\d{1,9}(_.+)?$/, "must be a migration, such as 0006 or 0006_add_headlines", {
    alias,
    value: "NUMBER",
  });

export const resolveCommand = defineCommand({
  describe: "mark one migration as reverted or as adopted, if its file was lost or replaced; changes no table",
  examples: [
    ["migrate resolve --reverted 6", "count 0006 as never run"],
    ["migrate resolve --adopted 6", "count 0006 as applied with the present file"],
  ],
  exits: { refused: "nothing was marked" },
  flags: {
    yes: switchFlag("mark it without asking"),
    reverted: migrationFlag(
      "rolled-back",
      "count it as never run: its file is lost, or its changes were removed by hand",
    ),
    adopted: migrationFlag(
      "applied",
      "count it as applied with the present file: the tables already are as that file leaves them",
    ),
    ...bundleFlags,
    ...leaseFlags,
  },
  async run(context) {
    const { output, flags } = context;
    const { reverted, adopted, yes } = flags;
    const [found, target] = await withTarget(
      context,
      async (options) => {
        const shown = await resolve(options, { reverted, adopted });
        for (const line of [...shown.means, shown.lease ?? []].flat()) output.result(line);
        const marks = yes === true || (!output.json && canAsk() && (await agrees(shown, context)));
        return marks ? await resolve(options, { reverted, adopted, yes: true }, shown) : shown;
      },
      runEvents(context),
    );
    output.data<typeof shapes.resolve>({ target, ...found, differences: found.differences?.map(differenceDocument) });
    const { migration, as, done } = found;
    output.result(
      done
        ? `marked ${formatMigration(migration)} as ${as} on ${target}; no table was changed`
        : `nothing was changed; migrate resolve --${as} ${formatMigration(migration)} --yes marks it`,
    );
    return done ? undefined : "refused";
  },
});

async function agrees({ migration, as }: Resolution, context: Context): Promise<boolean> {
  const question = `mark ${formatMigration(migration)} as ${as}? (yes, or Enter to leave it as it is) `;
  return await atTerminal(context, ({ untilRight }) => untilRight(question, isYes));
}
