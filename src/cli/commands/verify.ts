import { z } from "zod";
import { count } from "../../errors.ts";
import { verifyLedger, verifyTables } from "../../run/verify.ts";
import { parseFlags, switchFlag, withSession, type Command, type Context } from "../command.ts";
import { amiss, done } from "../exit-code.ts";

const verifyFlags = z.looseObject({ ledger: switchFlag });

export const verifyCommand: Command = {
  usage: "verify",
  describe: "compare the tables with what the ledger says, or look for tampering with the ledger; changes nothing",
  switches: { ledger: "look at the ledger itself and at no table" },
  async run(context) {
    const { ledger } = parseFlags(verifyFlags, context.flags);
    return ledger === true ? await verifyTheLedger(context) : await verifyTheTables(context);
  },
};

async function verifyTheTables(context: Context): Promise<number> {
  const { output } = context;
  const [{ tables, columns, differences, hint }, target] = await withSession(context, {}, async ({ options }) => [
    await verifyTables(options),
    options.target.name,
  ]);
  output.data({ target, tables, columns, differences, hint });
  for (const { table, differences: words } of differences) for (const word of words) output.result(`${table}: ${word}`);
  if (!columns) output.result(`${target} can't describe its tables: only whether they are there was compared`);
  if (differences.length === 0) output.result(`${count(tables, "table")} of ${target} as the ledger says`);
  else output.result(`${count(differences.length, "table")} of ${target} not as the ledger says; ${hint}`);
  return differences.length === 0 ? done : amiss;
}

async function verifyTheLedger(context: Context): Promise<number> {
  const { output } = context;
  const [{ records, findings }, target, ledger] = await withSession(context, {}, async ({ options }) => [
    await verifyLedger(options),
    options.target.name,
    options.ledger,
  ]);
  output.data({ target, records, findings });
  for (const { sentence, known } of findings)
    output.result(known ? `${sentence} (known: the ledger was rebuilt since)` : sentence);
  if (records === 0) {
    output.result(
      `${target} has no ledger ${ledger}, or an empty one: nothing was applied yet, or it was lost; migrate repair tells which`,
    );
    return done;
  }
  const unknown = findings.filter(({ known }) => !known).length;
  const what = count(records, "record");
  output.result(
    unknown === 0 ? `${what} checked, nothing wrong` : `${what} checked, ${unknown} wrong; see migrate repair`,
  );
  return unknown === 0 ? done : amiss;
}
