import { staleDocument, staleText } from "../../run/stale-text.ts";
import { deferralText, isStuck } from "../../run/deferral-text.ts";
import { count, MigrateError } from "../../errors/migrate-error.ts";
import { differenceDocument, type DriftSince, type TableDifference } from "../../plan/history/table-drift.ts";
import { verifyLedger, verifyTables } from "../../commands/verify/verify.ts";
import { isTooLow, type IndexRecall, type RecallChoice } from "../../run/computed.ts";
import { computingOf } from "../../run/run-context.ts";
import { describeRecall } from "../render/recall.ts";
import { defineCommand, withTarget, type Context } from "../command/command.ts";
import type { CommandResult } from "../command/exit-code.ts";
import { bundleFlags, switchFlag, wholeFlag } from "../command/flags.ts";
import { onlyNamesCompared } from "../render/events.ts";
import { requireMeant } from "../input/require-meant.ts";
import { newDatabaseNotes } from "../render/new-database.ts";
import { renderTime } from "../render/times.ts";
import type * as shapes from "../json/inspect.ts";

export const verifyCommand = defineCommand({
  describe: "compare the tables with the ledger, or check the ledger for tampering; changes no table",
  examples: [
    ["migrate verify", "compare the tables with the ledger"],
    ["migrate verify --ledger", "check whether records of the ledger were changed"],
  ],
  exits: {
    refused:
      "a table differs, rows lack a right value after a switch, a record is wrong, or an index has a lower recall than its migration requires",
  },
  flags: {
    ledger: switchFlag("check the ledger itself, and no table"),
    recall: switchFlag("also measure what share of the nearest neighbours the vector indexes find"),
    k: wholeFlag("with --recall: how many neighbours (those of the index's minRecall, or 10)", 1, 1000),
    sample: wholeFlag("with --recall: for how many vectors of each index (those of its minRecall, or 200)", 1, 1000),
    ...bundleFlags,
  },
  conflicts: [
    ["ledger", "recall"],
    ["bundle", "ledger"],
  ],
  async run(context) {
    const { ledger, recall, k, sample } = context.flags;
    if (recall !== true && (k ?? sample) !== undefined)
      throw new MigrateError("ERR_USAGE", { problem: "migrate verify takes --k and --sample only with --recall" });
    return ledger === true
      ? await verifyTheLedger(context)
      : await verifyTheTables(context, recall === true ? { k, sample } : undefined);
  },
});

export function renderDifferences(differences: readonly TableDifference[], { output }: Pick<Context, "output">): void {
  for (const { table, differences: words, since } of differences) {
    for (const word of words) output.result([{ style: "bold", text: `${table}:` }, ` ${word}`]);
    if (since !== undefined) output.result([{ style: "bold", text: `${table}:` }, ` ${sinceText(since)}`]);
  }
}

function sinceText({ version, at, isOrEarlier, isOrLater }: DriftSince): string {
  const when = `version ${version}${at === undefined ? "" : ` of ${renderTime(at)}`}`;
  const later = isOrLater ? ", or later if the difference went away and came back" : "";
  return isOrEarlier ? `since ${when} or earlier` : `since ${when}${later}`;
}

async function verifyTheTables(context: Context, wanted: RecallChoice | undefined): Promise<CommandResult> {
  const { output } = context;
  const [{ tables, columns, differences, hint, doubts, deferred, stale, recall, newDatabase }, target] =
    await withTarget(context, async (options) => {
      await requireMeant(options, context, false);
      const recall = wanted && (await (await computingOf(options)).verifyRecall(options, wanted));
      return { ...(await verifyTables(options)), recall };
    });
  output.data<typeof shapes.verify>({
    target,
    tables,
    columns,
    differences: differences.map(differenceDocument),
    hint,
    doubts,
    deferred,
    stale: stale.map(staleDocument),
    recall,
  });
  renderDifferences(differences, context);
  if (!columns) output.result(onlyNamesCompared(target));
  for (const words of doubts) output.result({ style: "yellow", text: words });
  for (const one of deferred)
    output.result(isStuck(one) ? { style: "red", text: deferralText(one) } : deferralText(one));
  if (differences.length === 0) output.result({ style: "green", text: areAsRecorded(tables, target) });
  else
    output.result({
      style: "red",
      text: `${areAsRecorded(differences.length, target, "not ")}; ${hint}`,
    });
  for (const note of newDatabaseNotes(newDatabase)) output.progress(note);
  for (const one of stale) output.result({ style: "red", text: staleText(one) });
  if (recall !== undefined) renderRecall(recall, context);
  const isWrong =
    differences.length > 0 || stale.length > 0 || deferred.some(isStuck) || recall?.some(isTooLow) === true;
  return isWrong ? "refused" : undefined;
}

function areAsRecorded(tables: number, target: string, not = ""): string {
  return `${count(tables, "table")} of ${target} ${tables === 1 ? "is" : "are"} ${not}as the ledger records`;
}

function renderRecall(recall: readonly IndexRecall[], { output }: Context): void {
  if (recall.length === 0) output.result("no vector indexes");
  for (const one of recall) {
    const least = one.minRecall === undefined ? "" : `; its migration requires ${one.minRecall}`;
    output.result(`${one.table}: index ${one.index} on ${one.column}: ${describeRecall(one.k, one)}${least}`);
  }
  const low = recall.filter(isTooLow).length;
  if (low > 0)
    output.result({
      style: "red",
      text: `${low === 1 ? "1 index has" : `${low} indexes have`} a lower recall than required; create ${low === 1 ? "it" : "them"} again in a new migration, with other parameters if need be`,
    });
}

async function verifyTheLedger(context: Context): Promise<CommandResult> {
  const { output } = context;
  const [{ records, findings, ledger }, target] = await withTarget(context, async (options) => ({
    ...(await verifyLedger(options)),
    ledger: options.ledger,
  }));
  output.data<typeof shapes.verify>({ target, records, findings });
  for (const { sentence, known } of findings)
    output.result(known ? `${sentence} (known: the ledger was rebuilt since)` : { style: "red", text: sentence });
  if (records === 0) {
    output.result(
      `${target} has no ledger ${ledger}, or an empty one: either nothing was applied yet, or it was lost; migrate repair finds out which`,
    );
    return undefined;
  }
  const unknown = findings.filter(({ known }) => !known).length;
  const what = count(records, "record");
  output.result(
    unknown === 0
      ? { style: "green", text: `${what} checked, nothing wrong` }
      : { style: "red", text: `${what} checked, ${unknown} wrong; see migrate repair` },
  );
  return unknown === 0 ? undefined : "refused";
}
