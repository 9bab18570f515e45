import { history } from "../../commands/status.ts";
import { savedPlanOf, type LedgerRecord } from "../../ledger/state/record.ts";
import { shortHash } from "../../migrations/checksum.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import { defineCommand, withTarget } from "../command/command.ts";
import { renderDuration, renderTable, renderTime } from "../render/events.ts";

export const historyCommand = defineCommand({
  usage: "history",
  describe: "print the records of the ledger",
  flags: {},
  async run(context) {
    const { output } = context;
    const [records, target] = await withTarget(context, history);
    output.data({ target, records: records.map((record) => ({ ...record, at: new Date(record.at).toISOString() })) });
    // Records about the lease matter only if something went wrong, so they need --verbose.
    const shown = records.filter(
      (record) =>
        output.verbose ||
        record.version !== undefined ||
        record.event === "rebuilt" ||
        savedPlanOf(record) !== undefined,
    );
    for (const line of renderTable(shown.map(toRow))) output.result(line);
    if (shown.length === 0) output.result("the ledger is empty");
    return undefined;
  },
});

function toRow(record: LedgerRecord): readonly string[] {
  const { epoch, number, at, event, version, name, duration, by, detail } = record;
  const plan = savedPlanOf(record);
  return [
    `${epoch}.${number}`,
    // A marker that takes an epoch has the same name for every runner at every time, so it records no time.
    at === 0 ? "" : renderTime(at),
    event,
    version === undefined || name === undefined ? "" : formatMigration({ version, name }),
    duration === undefined || event === "baselined" ? "" : renderDuration(duration),
    by,
    plan === undefined ? (detail ?? "") : `runs the saved plan ${shortHash(plan)}`,
  ];
}
