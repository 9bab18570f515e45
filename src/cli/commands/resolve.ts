import { z } from "zod";
import { formatMigration } from "../../migrations/file-name.ts";
import type { RunEvent } from "../../run/events.ts";
import { resolve, type Resolution } from "../../commands/resolve/resolve.ts";
import { atTerminal, canAsk } from "../input/prompt.ts";
import {
  leaseFlags,
  leaseSchema,
  parseFlags,
  switchFlag,
  tellUnderWay,
  withSession,
  type Command,
  type Context,
} from "../command/command.ts";
import { amiss, done } from "../command/exit-code.ts";
import { renderEvent } from "../render/events.ts";

const migrationFlag = (flag: string) =>
  z
    .string(`--${flag} is given twice or without a value`)
    .regex(/^\d{1,9}(_.+)?$/, `--${flag} must be a migration, such as 0006 or 0006_add_headlines`)
    .optional();

const resolveFlags = leaseSchema.extend({
  reverted: migrationFlag("reverted"),
  adopted: migrationFlag("adopted"),
  yes: switchFlag,
});

export const resolveCommand: Command = {
  usage: "resolve",
  describe: "mark one migration as reverted or as adopted, if its file was lost or replaced; changes no table",
  switches: { yes: "mark it without asking" },
  flags: (cli) =>
    leaseFlags(
      cli
        .option("reverted", {
          alias: "rolled-back",
          type: "string",
          describe: "it counts as never run: its file is lost, or its changes were removed by hand",
        })
        .option("adopted", {
          alias: "applied",
          type: "string",
          describe: "it counts as applied by the file that is here: the tables are already as that file leaves them",
        }),
    ),
  async run(context) {
    const { flags, output, underWay } = context;
    const { reverted, adopted, yes, wait, lease } = parseFlags(resolveFlags, flags);
    const emit = (event: RunEvent) => {
      tellUnderWay(event, underWay);
      renderEvent(event, output);
    };
    const [found, target] = await withSession(
      context,
      { emit, waitSeconds: wait, leaseSeconds: lease },
      async ({ options }) => {
        const shown = await resolve(options, { reverted, adopted });
        for (const line of [...shown.means, shown.lease ?? []].flat()) output.result(line);
        const marks = yes === true || (!output.json && canAsk() && (await agrees(shown, context)));
        const found = marks ? await resolve(options, { reverted, adopted, yes: true }, shown) : shown;
        return [found, options.target.name];
      },
    );
    output.data({ target, ...found });
    const { migration, as } = found;
    output.result(
      found.done
        ? `marked ${formatMigration(migration)} as ${as} on ${target}; no table was changed`
        : `nothing was changed; migrate resolve --${as} ${formatMigration(migration)} --yes marks it`,
    );
    return found.done ? done : amiss;
  },
};

async function agrees({ migration, as }: Resolution, { signal }: Context): Promise<boolean> {
  const question = `mark ${formatMigration(migration)} as ${as}? (yes, or nothing to leave it) `;
  return await atTerminal(signal, ({ untilRight }) =>
    untilRight(question, (answer) => /^y(es)?$/i.test(answer.trim())),
  );
}
