/**
 * Finds records of a ledger that were changed, removed or added. Each record has the hash of the one before it. So if a
 * record to which another refers is changed or missing, that reference leads nowhere. Pure.
 */
import { matchesHash, shortHash } from "../../migrations/checksum.ts";
import { saysWhatIsApplied } from "./audit-applied.ts";
import { senseless } from "./malformed-records.ts";
import { byPlace, recordIdText, type LedgerRecord } from "../state/record.ts";

export interface LedgerFinding {
  /**
   * - `missing`: a record is gone.
   * - `changed`: a record is not as it was written.
   * - `added`: a record has a position at which the tool would not have written it.
   * - `twice`: two records have the same position.
   * - `senseless`: a record has contents that the tool never writes.
   * - `applied`: the running hash of the newest record does not match the records.
   */
  readonly kind: "missing" | "changed" | "added" | "twice" | "senseless" | "applied";
  /** The position of the record that it is about, as exactly as it can be determined. */
  readonly place: string;
  readonly sentence: string;
  /** Whether the ledger was rebuilt since, so that nothing depends on that record any more. */
  readonly known: boolean;
}

type FindingAtRecord = Omit<LedgerFinding, "place" | "known"> & { readonly at: Pick<LedgerRecord, "epoch" | "number"> };

/** All findings, in the order of the records. `hashOf`: that of the journal. */
export function auditLedger(
  records: readonly LedgerRecord[],
  hashOf: (record: LedgerRecord) => string,
): readonly LedgerFinding[] {
  const sorted = records.toSorted(byPlace);
  const since = sorted.findLast(({ event }) => event === "rebuilt")?.epoch ?? -Infinity;
  const links = linksOf(sorted, hashOf);
  const found: readonly FindingAtRecord[] = [
    ...doubles(sorted),
    ...gaps(sorted),
    ...senseless(sorted).map(({ at, problem }) => ({
      kind: "senseless" as const,
      at,
      sentence: `${recordIdText(at)} ${problem}`,
    })),
    ...brokenLinks(links),
  ];
  // A broken chain does not show which records a writer knew.
  const whole = found.every(({ at }) => at.epoch < since);
  return [...found, ...(whole ? wrongHash(links, since) : [])]
    .toSorted((one, other) => one.at.epoch - other.at.epoch || one.at.number - other.at.number)
    .map(({ kind, at, sentence }) => ({ kind, place: recordIdText(at), sentence, known: at.epoch < since }));
}

/** A record with its references to and from others. */
interface Link {
  readonly record: LedgerRecord;
  /** Empty if no record can refer to it. */
  readonly hash: string;
  /** The record whose hash is `previous`; undefined if there is none. */
  readonly before: Link | undefined;
  /** Whether any record refers to it, which proves that it was not changed. */
  referred: boolean;
  /** The first other epoch with a record that refers to it: it existed when that epoch was taken. */
  knownTo: number;
}

/** One link per position; if several records have it, the one that others refer to. */
function linksOf(sorted: readonly LedgerRecord[], hashOf: (record: LedgerRecord) => string): readonly Link[] {
  const byHash = new Map<string, Link>();
  const all = sorted.map((record): Link => {
    const hash = hashOf(record);
    const found = byHash.get(shortHash(record.previous));
    const before = found !== undefined && matchesHash(found.hash, record.previous) ? found : undefined;
    if (before !== undefined) {
      before.referred = true;
      if (before.record.epoch !== record.epoch) before.knownTo = Math.min(before.knownTo, record.epoch);
    }
    const link = { record, hash, before, referred: false, knownTo: Infinity };
    if (hash !== "" && !byHash.has(shortHash(hash))) byHash.set(shortHash(hash), link);
    return link;
  });
  const chosen = new Map<string, Link>();
  for (const link of all) {
    const place = recordIdText(link.record);
    if (chosen.get(place)?.referred !== true) chosen.set(place, link);
  }
  return [...chosen.values()];
}

function doubles(sorted: readonly LedgerRecord[]): readonly FindingAtRecord[] {
  return sorted.flatMap((at, index): readonly FindingAtRecord[] => {
    const before = sorted[index - 1];
    if (before === undefined || byPlace(before, at) !== 0) return [];
    return [{ kind: "twice", at, sentence: `${recordIdText(at)} is there twice: one of the two was added` }];
  });
}

/** Epochs are consecutive, and each begins with the record that takes it. */
function gaps(sorted: readonly LedgerRecord[]): readonly FindingAtRecord[] {
  const found: FindingAtRecord[] = [];
  let last = 0;
  for (const { epoch, number } of sorted) {
    // `senseless` reports an epoch below 1.
    if (epoch === last || epoch < 1) continue;
    const missing = epoch - last - 1;
    const at = { epoch: last + 1, number: 0 };
    if (missing === 1) found.push({ kind: "missing", at, sentence: `every record of epoch ${last + 1} is missing` });
    if (missing > 1)
      found.push({
        kind: "missing",
        at,
        sentence: `every record of the epochs ${last + 1} to ${epoch - 1} is missing`,
      });
    last = epoch;
    const first = { epoch, number: 0 };
    if (number !== 0)
      found.push({ kind: "missing", at: first, sentence: `${recordIdText(first)}, which takes the epoch, is missing` });
  }
  return found;
}

function brokenLinks(links: readonly Link[]): readonly FindingAtRecord[] {
  const takenCounts = links.some(({ record, hash }) => record.event === "taken" && hash !== "");
  const epochs = new Set(links.map(({ record }) => record.epoch));
  const usable = links.filter(({ hash }) => hash !== "");
  const found: FindingAtRecord[] = [];
  /** Records that are known to be changed: their own references prove nothing. */
  const blamed = new Set<Link>();
  const indexes = new Map(usable.map(({ record }, index) => [recordIdText(record), index]));
  for (const [index, link] of [...usable.entries()].toReversed()) {
    const { record, before } = link;
    const nearest = usable[index - 1];
    const own = nearest?.record.epoch === record.epoch ? nearest : undefined;
    // `gaps` already reports that the record that takes the epoch, or the whole epoch before it, is missing.
    const explained =
      own === undefined &&
      ((takenCounts && record.number !== 0) || (record.epoch > 1 && !epochs.has(record.epoch - 1)));
    if (before !== undefined) {
      const between = usable.slice(indexes.get(recordIdText(before.record))! + 1, index);
      found.push(...misplaced(link, before, between, usable, takenCounts));
    } else if (nearest === undefined ? record.previous === "" : mayBeFirst(link, usable, takenCounts)) continue;
    else if (!explained && !blamed.has(link)) found.push(broken(link, nearest, own, blamed));
  }
  return found;
}

/** Whether a record may state that none precedes it although some do, because those came late in earlier epochs. */
function mayBeFirst(link: Link, usable: readonly Link[], takenCounts: boolean): boolean {
  const { record } = link;
  if (takenCounts || record.previous !== "") return false;
  const earlier = usable.filter((other) => byPlace(other.record, record) < 0);
  const here = earlier.filter((other) => other.record.epoch === record.epoch);
  return strayOf(link, here, usable) === undefined && earlier.every(({ knownTo }) => knownTo > record.epoch);
}

/** The finding if a reference leads to an existing record, but not to the one before. */
function misplaced(
  link: Link,
  before: Link,
  between: readonly Link[],
  usable: readonly Link[],
  takenCounts: boolean,
): readonly FindingAtRecord[] {
  const { record } = link;
  const { epoch, number } = record;
  const follows = `${recordIdText(record)} follows ${recordIdText(before.record)}`;
  // A run that takes an epoch has read all of the epoch before, except late records. If nothing can be read of the
  // record that takes the epoch, the next record has the reference.
  const begins = takenCounts ? number === 0 && before.record.epoch === epoch - 1 : before.record.epoch < epoch;
  if (before.record.epoch !== epoch && !begins)
    return [{ kind: "added", at: record, sentence: `${follows}, which is not the one before it` }];
  const skipped = between.filter((other) => other.record.epoch === epoch);
  const stray = strayOf(link, skipped, usable);
  if (stray === undefined) return [];
  const sentence = `${follows}, so ${recordIdText(stray.record)} between them, or ${recordIdText(record)} itself, was added`;
  return [{ kind: "added", at: stray.record, sentence }];
}

/**
 * The first record that a reference skips although it must not. A failed write may have been stored anyway; then the
 * next record refers to the same record as the failed one. After the failed write of anything but a renewal, a run
 * writes nothing more, except a renewal that was already waiting for its turn.
 */
function strayOf({ record }: Link, skipped: readonly Link[], usable: readonly Link[]): Link | undefined {
  if (skipped.length === 0) return undefined;
  const isRenewal = (link: Link) => link.record.event === "renewed";
  const ends =
    record.event === "renewed" &&
    usable.every(
      (other) => byPlace(other.record, record) <= 0 || other.record.epoch > record.epoch || isRenewal(other),
    );
  const together = (link: Link) => !isRenewal(link) && link.before !== undefined && skipped.includes(link.before);
  return skipped.find(
    (other) => !(ends || isRenewal(other)) || !(other.record.previous === record.previous || together(other)),
  );
}

/** The finding for a reference that leads nowhere, as far as its cause can be determined. */
function broken(link: Link, nearest: Link | undefined, own: Link | undefined, blamed: Set<Link>): FindingAtRecord {
  const { record, referred } = link;
  const place = recordIdText(record);
  const because = `${place} follows a record that is not there`;
  if (nearest === undefined)
    return { kind: "missing", at: record, sentence: `${because}: what stood before it is missing, or it was changed` };
  const former = recordIdText(nearest.record);
  const orItself = referred ? "" : `, or ${place} itself was`;
  if (own !== undefined && record.number === nearest.record.number + 1) {
    // A record to which others refer was not changed.
    if (nearest.referred) return { kind: "changed", at: record, sentence: `${place} was changed: ${because}` };
    if (referred) blamed.add(nearest);
    return { kind: "changed", at: nearest.record, sentence: `${former} was changed${orItself}: ${because}` };
  }
  const between = { epoch: nearest.record.epoch, number: nearest.record.number + 1 };
  const gone =
    own === undefined
      ? `a record after ${former} is missing`
      : record.number === between.number + 1
        ? `${recordIdText(between)} is missing`
        : `a record between ${former} and ${place} is missing`;
  const orFormer = nearest.referred ? "" : `, or ${former} was changed`;
  return { kind: "missing", at: between, sentence: `${gone}${orFormer}${orItself}: ${because}` };
}

function wrongHash(links: readonly Link[], since: number): readonly FindingAtRecord[] {
  const counted = links.filter(({ record }) => record.epoch >= since);
  const newest = counted.findLast(({ record }) => record.applied !== "");
  if (newest === undefined) return [];
  const known = new Set<Link>();
  for (let at: Link | undefined = newest; at !== undefined; at = at.before) known.add(at);
  const late = counted.filter((link) => !known.has(link)).map(({ record }) => record);
  const records = counted.map(({ record }) => record);
  if (saysWhatIsApplied(newest.record, records, late)) return [];
  const sentence =
    `${recordIdText(newest.record)} was changed: its hash of what is applied is not that of what the records say, ` +
    "and migrate up believes it";
  return [{ kind: "applied", at: newest.record, sentence }];
}
