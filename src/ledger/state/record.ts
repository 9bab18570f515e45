/** The records of the ledger, which are only added and never changed. */
import { canonicalJson, sha256 } from "../../migrations/checksum.ts";
import type { FoundIndex } from "../../schema/table-index.ts";

/**
 * - `taken`: an epoch began; of n racing runs exactly one learns that it added this record.
 * - `renewed`: the holder is still running.
 * - `advanced`: some actions of a migration are done, and the tables alone could not show which.
 * - `applied`: a migration is done.
 * - `baselined`: the tables were as a migration leaves them, so it counts as applied although it never ran.
 * - `reverting`: a migration is being rolled back; `step` of the rollback's actions are done.
 * - `reverted`: it is rolled back, and pending again.
 * - `failed`, `interrupted`: a migration or its rollback stopped; `step` of its actions are done.
 * - `noted`: a file's text changed but not what it does; records its new text hash.
 * - `late`: action `step` of this migration may have been called after the lease had expired.
 * - `looked`: the table of a late call was checked, and nothing wrong was found.
 * - `rebuilt`: what this epoch records as applied replaces what all earlier records state.
 * - `released`: the epoch ended normally; has `step` if a migration stays partly done.
 */
export type LedgerEvent =
  | "taken"
  | "renewed"
  | "advanced"
  | "applied"
  | "baselined"
  | "reverting"
  | "reverted"
  | "failed"
  | "interrupted"
  | "noted"
  | "late"
  | "looked"
  | "rebuilt"
  | "released";

/**
 * Each table's versions before and after a migration, if the target reports them, by the name that the table had
 * before. `others`: true if others may have written to it in between, and "none" if only the migration has; false if
 * that was not watched. `times`: when these versions were created, in milliseconds since 1970, which distinguishes the
 * table from another of its name. "none" and times are absent in records of older releases.
 */
export type TableVersions = Readonly<Record<string, OwnVersions>>;

export type OwnVersions = readonly [
  before: number | null,
  after: number | null,
  others?: boolean | "none",
  times?: readonly [before: number | null, after: number | null],
];

/** What a record states about a migration. */
export interface MigrationFacts {
  readonly version: number;
  readonly name: string;
  /** How many of `total` actions are done; while it is rolled back, of the rollback's actions. */
  readonly step: number;
  readonly total: number;
  /**
   * SHA-256 of the steps; until the migration is applied, of those that have begun; while it is rolled back, of the
   * rollback's actions. On `renewed`, without a migration: of the saved plan that the run executes.
   */
  readonly checksum: string;
  /**
   * A short hash of each of these steps, so that an error can name the step that was changed later. On `renewed`,
   * without a migration: the versions of the group that `next` begins, as ranges, or that `next` runs alone.
   */
  readonly steps: readonly string[];
  /** SHA-256 of the file's text. */
  readonly textHash: string;
  readonly attempt: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly tables: TableVersions;
}

/** Indexes and metadata that an action of several commits removes and must restore. */
export interface Preserved {
  readonly indexes: Readonly<Record<string, FoundIndex>>;
  /** By column path. */
  readonly metadata: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** An action of several commits that has begun. */
export interface PartialAction extends Preserved {
  /** The hash of its step: a run can resume in the middle only with the same step. */
  readonly step: string;
  /** How many of its commits are known to be done. */
  readonly commit: number;
}

export interface LedgerRecord extends Partial<MigrationFacts> {
  readonly epoch: number;
  /** Its number in the epoch, from 0 for the record that takes the epoch. */
  readonly number: number;
  readonly event: LedgerEvent;
  /** Milliseconds since 1970 by the writer's clock. For people only: no decision depends on it. */
  readonly at: number;
  /** The user, machine and process that ran it. */
  readonly by: string;
  /** An id of the run, by which it recognises its own records. */
  readonly run: string;
  /** The tool's version. */
  readonly tool: string;
  /** On `taken` and `renewed`: another run may take over after this many milliseconds without a new record. */
  readonly lease?: number | undefined;
  /** The migration that the holder works on next. It is in doubt if the holder adds no further record. */
  readonly next?: number | undefined;
  /** `name` is only the beginning of the migration's name: the marker had no room for the rest. Never written. */
  readonly isNameCut?: true | undefined;
  /** On `looked`: the epoch whose late call was checked. */
  readonly late?: number | undefined;
  /** On `advanced` and `reverting`: set if the action after those that are done has begun. */
  readonly midway?: PartialAction | undefined;
  /** Why it failed, or other details, as text. Also names the indexes that are deferred (`deferralDetail`). */
  readonly detail?: string | undefined;
  /** Running hash over all migrations applied after the write. A run with nothing pending reads only the newest one. */
  readonly applied: string;
  /** The hash of the record before it. */
  readonly previous: string;
}

/** The fields that a writer gives; the record chain adds the others. `at`, `by`: those of the record that it repeats. */
export type LedgerEntry = Pick<LedgerRecord, "event" | "next" | "detail" | "lease" | "late" | "midway"> &
  Partial<Pick<LedgerRecord, "at" | "by"> & MigrationFacts>;

/** The records of rebuilt ledgers that only repeat what an earlier run did, with its time. */
export function repeatedIn(records: readonly LedgerRecord[]): Set<LedgerRecord> {
  const began = new Map<number, number>();
  for (const { event, epoch } of records) if (event === "rebuilt") began.set(epoch, Infinity);
  for (const { epoch, version, at } of records) {
    const time = began.get(epoch);
    // A marker that takes an epoch has no time.
    if (time !== undefined && version === undefined && at > 0) began.set(epoch, Math.min(time, at));
  }
  return new Set(records.filter(({ version, epoch, at }) => version !== undefined && at < (began.get(epoch) ?? 0)));
}

/** The hash, or its beginning, of the saved plan that a run states to execute; undefined for other records. */
export function savedPlanOf({ event, version, checksum }: LedgerRecord): string | undefined {
  return event === "renewed" && version === undefined && checksum !== "" ? checksum : undefined;
}

/** What the detail of a record that states deferred indexes begins with. */
export const deferring = "deferred: ";
const failing = "; not built: ";

/** The detail of a record that states which indexes are deferred. `failures`: why some could not be built. */
export function deferralDetail(indexes: readonly string[], failures: readonly string[] = []): string {
  const names = indexes.length === 0 ? "none" : indexes.join(", ");
  return [deferring + names, ...failures].join(failing);
}

/** Whether indexes are deferred, by the detail of a record; undefined if it does not state that. */
export function saysDeferred(detail: string | undefined): boolean | undefined {
  return detail?.startsWith(deferring) === true ? detail !== deferralDetail([]) : undefined;
}

/** The indexes and the failures that a record of `deferralDetail` states. */
export function partsOfDeferral(detail: string): {
  readonly indexes: readonly string[];
  readonly failures: readonly string[];
} {
  const [names = "", ...failures] = detail.slice(deferring.length).split(failing);
  return { indexes: names.split(", "), failures };
}

const mostInGroup = 1_000_000;

/** The entry that states, before the first call of a group, which migrations run as one. `versions`: in order. */
export function groupEntry(versions: readonly number[]): LedgerEntry {
  return { event: "renewed", next: versions[0], steps: rangesOf(versions) };
}

/** The entry that states that a migration runs by itself, whatever older records state of it. */
export function aloneEntry(version: number): LedgerEntry {
  return { event: "renewed", next: version, steps: ["alone"] };
}

function rangesOf(versions: readonly number[]): readonly string[] {
  const ranges: [first: number, last: number][] = [];
  for (const version of versions) {
    const open = ranges.at(-1);
    if (open?.[1] === version - 1) open[1] = version;
    else ranges.push([version, version]);
  }
  return ranges.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`));
}

/** The versions of the group that a record begins, none if a migration runs alone; undefined for other records. */
export function groupOf({ event, version, steps = [] }: LedgerRecord): readonly number[] | undefined {
  if (event !== "renewed" || version !== undefined || steps.length === 0) return undefined;
  return steps.flatMap((range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    // Others can write to the ledger's table too: a range that no run has written must not take all memory.
    const length = Math.min(last - first + 1, mostInGroup);
    return Number.isSafeInteger(length) && length > 0 ? Array.from({ length }, (_, index) => first + index) : [];
  });
}

/** The hash of the whole record, for journals that store it whole. */
export function recordHash(record: LedgerRecord): string {
  return sha256(canonicalJson(record));
}

/** Whether the migration of the record counts as applied from then on. */
export function saysApplied({ event }: Pick<LedgerRecord, "event">): boolean {
  return event === "applied" || event === "baselined";
}

/** Whether the entry ends a rollback before anything was done, so that the migration is as it was. */
export function isNothingReverted({ event, step, midway, next, version }: LedgerEntry): boolean {
  return (event === "failed" || event === "interrupted") && step === 0 && midway === undefined && next !== version;
}

/** Whether `name`, in full, is the name of the recorded migration. */
export function isNamed(known: Pick<MigrationFacts, "name"> & Pick<LedgerRecord, "isNameCut">, name: string): boolean {
  return known.isNameCut === true ? name.startsWith(known.name) : name === known.name;
}

/** The position of a record. */
export type RecordId = Pick<LedgerRecord, "epoch" | "number">;

/** A position before all records. */
export const start: RecordId = { epoch: 0, number: 0 };

/** The position as messages and the key of the record show it: `<epoch>.<number>`. */
export function recordIdText({ epoch, number }: RecordId): string {
  return `${epoch}.${number}`;
}

/** The order in which records count, regardless of the order in which they were written or read. */
export function byPlace(one: RecordId, other: RecordId): number {
  return one.epoch - other.epoch || one.number - other.number;
}
