import { upCommand } from "../../cli/commands/up.ts";
import { defineCommand, withSession, type Context } from "../../cli/command/command.ts";
import { leaseFlags, switchFlag } from "../../cli/command/flags.ts";
import { atTerminal, canAsk, isYes } from "../../cli/input/prompt.ts";
import { status, type StatusResult } from "../../commands/status.ts";
import { count, isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import { schemaRevisions } from "../../run/schema-history.ts";
import type { MigratorOptions } from "../../run/run-context.ts";
import { isLedgers } from "./adopt/present-tables.ts";
import { checkPushAllowed } from "./push/push-allowed.ts";
import type * as shapes from "./json.ts";

export const resetCommand = defineCommand({
  describe: "for prototyping: drop the tables of all migrations on a target that allows push, and apply them all again",
  examples: [
    ["migrate reset", "show which tables would be dropped with how many rows, and ask"],
    ["migrate reset --yes", "the same without a question"],
  ],
  stopping: "stopping after the current table or action; the next reset begins again",
  flags: { yes: switchFlag("do not ask"), ...leaseFlags },
  async run(context) {
    const { flags, output, underWay } = context;
    const isReset = await withSession(context, async (session) => {
      checkPushAllowed(session, "roll everything back with migrate down --to 0", "reset");
      const { options } = session;
      const { target } = options;
      if (target.discard === undefined)
        throw new MigrateError("ERR_USAGE", { problem: `${target.name} can't drop tables without a migration` });
      await checkFree(options);
      const { own, ledgers } = await tablesOf(options);
      const sized = await Promise.all(own.map(async (name) => [name, await target.countRows?.(name)] as const));
      for (const [name, rows] of sized)
        output.result(`drop ${name}${rows === undefined ? "" : ` with ${count(rows, "row")}`}`);
      if (flags.yes !== true && !(await agrees(target.name, context))) return false;
      underWay(true);
      // The ledger goes last: until then, another reset finds what is left.
      for (const name of [...own, ...ledgers]) await target.discard(name);
      output.data<typeof shapes.reset>({ event: "reset", tables: [...own] });
      underWay(false);
      return true;
    });
    if (!isReset) return "refused";
    // A new database has no rows that a migration could lose.
    return await upCommand.run({ ...context, flags: { ...flags, accept: ["irreversible"] } } as Context);
  },
});

/** Throws ERR_USAGE. */
async function agrees(target: string, context: Context): Promise<boolean> {
  if (context.output.json || !canAsk())
    throw new MigrateError("ERR_USAGE", { problem: "migrate reset asks at a terminal; with --yes it asks nothing" });
  const question = `drop these tables of ${target}, and apply all migrations again? (yes, or Enter to leave everything as it is) `;
  const isAgreed = await atTerminal(context, ({ untilRight }) => untilRight(question, isYes));
  if (!isAgreed) context.output.result("nothing was changed");
  return isAgreed;
}

/** Throws ERR_PUSH_REFUSED while another run works on the target. */
async function checkFree(options: MigratorOptions): Promise<void> {
  const { holder, lease } = await status(options).catch((error: unknown): Partial<StatusResult> => {
    // A ledger that can't be used is a reason to begin again.
    if (isMigrateError(error)) return {};
    throw error;
  });
  if (holder !== undefined)
    throw new MigrateError("ERR_PUSH_REFUSED", {
      verb: "reset",
      problem: `${holder} holds the lease${lease === undefined ? "" : ` (${lease})`}`,
      hint: "wait until that run has ended, then run migrate reset again",
    });
}

/** The tables that any of the migrations changes, as far as they are there, and those of the ledger. */
async function tablesOf(options: MigratorOptions) {
  const made = new Set((await schemaRevisions(options)).flatMap(({ changed }) => [...changed.keys()]));
  const present = (await options.target.listTables()).toSorted();
  return {
    own: present.filter((name) => made.has(name)),
    ledgers: present.filter((name) => isLedgers(name, options.ledger)),
  };
}
