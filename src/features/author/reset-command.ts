import { upCommand } from "../../cli/commands/up.ts";
import { defineCommand, withSession, type Context } from "../../cli/command/command.ts";
import { leaseFlags, switchFlag } from "../../cli/command/flags.ts";
import { atTerminal, canAsk, isYes } from "../../cli/input/prompt.ts";
import { count, isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import { foldLedger } from "../../ledger/state/fold.ts";
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import { schemaRevisions } from "../../run/schema-history.ts";
import { holderWords, isSilent } from "../../run/lease/describe-holder.ts";
import { runContext, type MigratorOptions } from "../../run/run-context.ts";
import { throwIfInterrupted } from "../../run/lease/wait-for-lease.ts";
import type { Target } from "../../targets/contract/target.ts";
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
      const state = await stateOf(options);
      checkFree(state, options);
      const { own, unnamed, ledgers } = await tablesOf(options, state);
      const sized = await Promise.all(own.map(async (name) => [name, await target.countRows?.(name)] as const));
      for (const [name, rows] of sized)
        output.result(`drop ${name}${rows === undefined ? "" : ` with ${count(rows, "row")}`}`);
      if (flags.yes !== true && !(await agrees(target.name, context))) return false;
      // Another run may have begun while the question was open.
      checkFree(await stateOf(options), options);
      underWay(true);
      // Tables that only the ledger knows go before it. The others go after it: with it, up would take those that a
      // killed reset has dropped for applied.
      await dropAll(target, [...unnamed, ...ledgers, ...own.filter((name) => !unnamed.includes(name))], context);
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

/** Throws ERR_PUSH_FAILED. */
async function dropAll(target: Target, names: readonly string[], { signal }: Context): Promise<void> {
  for (const [done, name] of names.entries()) {
    throwIfInterrupted(signal);
    try {
      await target.discard!(name);
    } catch (error) {
      const details = { verb: "reset" as const, text: `drop ${name}`, problem: target.explain(error) };
      throw new MigrateError("ERR_PUSH_FAILED", { ...details, done, total: names.length }, { cause: error });
    }
  }
}

/** The state of the ledger; undefined if it can't be used, which is a reason to begin again. */
async function stateOf(options: MigratorOptions): Promise<LedgerState | undefined> {
  try {
    return foldLedger(await runContext(options).journal.read());
  } catch (error) {
    if (isMigrateError(error)) return undefined;
    throw error;
  }
}

/** Throws ERR_PUSH_REFUSED while another run holds the lease. One that was killed holds it until the lease has run out. */
function checkFree(state: LedgerState | undefined, options: MigratorOptions): void {
  const { clock } = runContext(options);
  if (state?.holder === undefined || isSilent(state, clock)) return;
  throw new MigrateError("ERR_PUSH_REFUSED", {
    verb: "reset",
    problem: holderWords(state, clock)!,
    hint: "wait until that run has ended or its lease has run out, then run migrate reset again",
  });
}

/** `own`: the tables that any of the migrations changes. `unnamed`: those of them that no file names, only the ledger. */
async function tablesOf(options: MigratorOptions, state: LedgerState | undefined) {
  const named = new Set((await schemaRevisions(options)).flatMap(({ changed }) => [...changed.keys()]));
  const ran = new Set([...(state?.migrations.values() ?? [])].flatMap(({ tables }) => Object.keys(tables)));
  const present = (await options.target.listTables()).toSorted();
  return {
    own: present.filter((name) => named.has(name) || ran.has(name)),
    unnamed: present.filter((name) => !named.has(name) && ran.has(name)),
    ledgers: present.filter((name) => isLedgers(name, options.ledger)),
  };
}
