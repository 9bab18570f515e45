import { doubtsIn, history } from "../../commands/status.ts";
import { count } from "../../errors/migrate-error.ts";
import {
  groupOf,
  repeatedIn,
  savedPlanOf,
  saysDeferred,
  type LedgerEvent,
  type LedgerRecord,
} from "../../ledger/state/record.ts";
import { shortHash } from "../../migrations/checksum.ts";
import { formatGroup, formatMigration } from "../../migrations/file-name.ts";
import { defineCommand, withTarget } from "../command/command.ts";
import { keepHeapSmall } from "../command/small-heap.ts";
import type { Styled } from "../command/output.ts";
import { waitingText } from "../../run/stale-text.ts";
import { renderDuration, renderTime } from "../render/times.ts";
import { renderTable, type TableRow } from "../render/table.ts";
import type * as shapes from "../json/inspect.ts";

export const historyCommand = defineCommand({
  describe: "print the records of the ledger",
  examples: [
    ["migrate history", "print when each migration ran, and who ran it"],
    ["migrate history --verbose", "also print the records of the lease"],
  ],
  flags: {},
  async run(context) {
    keepHeapSmall();
    const { output } = context;
    const [{ records, doubts }, target] = await withTarget(context, async (options) => {
      const records = await history(options);
      return { records, doubts: doubtsIn(records, options) };
    });
    const documents = output.json ? records.map((one) => ({ ...one, at: new Date(one.at).toISOString() })) : [];
    output.data<typeof shapes.history>({ target, records: documents, doubts });
    const repeated = repeatedUnderOneName(records);
    // Records about the lease matter only if something went wrong, so they need --verbose.
    const shown = output.verbose ? records : records.filter((one) => !repeated.has(one) && isAboutMigrations(one));
    const rows = shown.map((record) => toRow(record, repeatsOf(record, repeated)));
    output.results(renderTable(rows, output));
    if (records.length === 0) output.result("the ledger is empty");
    else if (shown.length === 0) output.result("no record is about a migration; --verbose shows all records");
    for (const words of doubts) output.result({ style: "yellow", text: words });
    return undefined;
  },
});

/** What a rebuilt ledger repeats. What was renumbered or squashed is repeated under another name, which is news. */
function repeatedUnderOneName(records: readonly LedgerRecord[]): ReadonlySet<LedgerRecord> {
  const repeated = new Set(repeatedIn(records));
  const names = new Set<string>();
  for (const record of records) {
    const { version, name = "" } = record;
    if (version === undefined) continue;
    if (!names.has(formatMigration({ version, name }))) repeated.delete(record);
    names.add(formatMigration({ version, name }));
  }
  return repeated;
}

function repeatsOf({ event, epoch }: LedgerRecord, repeated: ReadonlySet<LedgerRecord>): number {
  return event === "rebuilt" ? [...repeated].filter((one) => one.epoch === epoch).length : 0;
}

function isAboutMigrations(record: LedgerRecord): boolean {
  return (
    record.version !== undefined ||
    record.event === "rebuilt" ||
    groupIn(record) !== undefined ||
    savedPlanOf(record) !== undefined
  );
}

/** `repeats`: how many records of a rebuilt ledger repeat what earlier ones state. */
function toRow(record: LedgerRecord, repeats: number): TableRow {
  const { epoch, number, at, event, version, name, step, total, duration, by, detail } = record;
  const plan = savedPlanOf(record);
  const group = groupIn(record);
  const cells = [
    `${epoch}.${number}`,
    // A marker that takes an epoch has the same name for every runner at every time, so it records no time.
    at === 0 ? "" : renderTime(at),
    coloured(event),
    version === undefined || name === undefined ? "" : formatMigration({ version, name }),
    duration === undefined || event === "baselined" ? "" : renderDuration(duration),
    by,
  ];
  if (plan !== undefined) return { cells, note: `runs the saved plan ${shortHash(plan)}` };
  if (repeats > 0) return { cells, note: `repeats ${count(repeats, "record")}, which --verbose shows` };
  if (group !== undefined) return { cells, note: `begins ${group}` };
  if (event === "failed") return { cells, problem: detail };
  if (event === "advanced" && detail === undefined && total !== undefined)
    return { cells, note: `${step} of ${count(total, "action")} done` };
  return { cells, note: saysDeferred(detail) === true ? waitingText(detail!) : detail };
}

const colours: Partial<Record<LedgerEvent, Styled["style"]>> = {
  applied: "green",
  baselined: "green",
  failed: "red",
  interrupted: "yellow",
  reverting: "yellow",
  reverted: "yellow",
  late: "yellow",
};

/** Where the name of an event explains too little. */
const words: Partial<Record<LedgerEvent, string>> = {
  taken: "run began",
  renewed: "still running",
  released: "run ended",
  advanced: "under way",
  reverting: "rolling back",
  reverted: "rolled back",
  noted: "text changed",
  late: "late call",
  looked: "call checked",
  rebuilt: "ledger rebuilt",
};

function coloured(event: LedgerEvent): string | Styled {
  const style = colours[event];
  const text = words[event] ?? event;
  return style === undefined ? text : { style, text };
}

/** The group that the record begins, as text. */
function groupIn(record: LedgerRecord): string | undefined {
  const versions = groupOf(record) ?? [];
  return versions.length === 0 ? undefined : formatGroup(versions);
}
