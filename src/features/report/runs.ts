/** What the records of a ledger state about its runs and groups. Pure. */
import { foldLedger } from "../../ledger/state/fold.ts";
import { groupOf, repeatedIn, type LedgerRecord } from "../../ledger/state/record.ts";
import type { ReportedRun } from "./report-document.ts";

/** The runs that worked on a migration, or may have, the newest first. `records`: in their order. */
export function runsOf(records: readonly LedgerRecord[]): readonly ReportedRun[] {
  const holder = foldLedger(records).holder?.run;
  const repeated = repeatedIn(records);
  const others = records.filter((record) => !repeated.has(record));
  const runs = [...Map.groupBy(others, ({ run }) => run)].flatMap(([run, own]) => {
    const events = own.filter(({ version, event }) => version !== undefined || event === "rebuilt");
    const mayHaveWorked = !isReleased(own) && own.some(({ next }) => next !== undefined);
    return events.length > 0 || mayHaveWorked ? [runOf(run, own, events, run === holder)] : [];
  });
  return runs.toReversed();
}

function runOf(
  run: string,
  records: readonly LedgerRecord[],
  events: readonly LedgerRecord[],
  isWorking: boolean,
): ReportedRun {
  const { by, tool } = records[0]!;
  // A marker that takes an epoch has no time.
  const times = records.flatMap(({ at }) => (at === 0 ? [] : [at]));
  const [began, ended] = [Math.min(...times), Math.max(...times)];
  return {
    run,
    by,
    tool,
    began: timeText(began),
    ...(!isWorking && { ended: timeText(ended), milliseconds: ended - began }),
    outcome: outcomeOf(records, events),
    events: events.map(({ at, event, version, name, detail }) => ({ at: timeText(at), event, version, name, detail })),
  };
}

function outcomeOf(records: readonly LedgerRecord[], events: readonly LedgerRecord[]): ReportedRun["outcome"] {
  const has = (name: LedgerRecord["event"]) => events.some(({ event }) => event === name);
  if (has("failed")) return "failed";
  if (has("interrupted")) return "interrupted";
  if (!isReleased(records)) return "unfinished";
  if (has("reverted")) return "reverted";
  if (has("applied")) return "applied";
  return has("baselined") ? "baselined" : "other";
}

function isReleased(records: readonly LedgerRecord[]): boolean {
  return records.at(-1)!.event === "released";
}

export interface RanIn {
  readonly run: string;
  /** The number of the group that it ran in, if it did. */
  readonly group: number | undefined;
}

/** By version: in which run and group each migration was applied or last worked on. `records`: in their order. */
export function ranIn(records: readonly LedgerRecord[]): ReadonlyMap<number, RanIn> {
  const found = new Map<number, RanIn>();
  const repeated = repeatedIn(records);
  let groups = 0;
  let group: readonly number[] = [];
  for (const record of records) {
    const stated = groupOf(record);
    if (stated !== undefined) {
      group = stated;
      if (group.length > 0) groups++;
    }
    const { version, run, event } = record;
    if (version === undefined || event === "noted" || event === "late" || event === "looked") continue;
    if (repeated.has(record)) continue;
    found.set(version, { run, group: group.includes(version) ? groups : undefined });
  }
  return found;
}

export function timeText(at: number): string {
  return new Date(at).toISOString();
}
