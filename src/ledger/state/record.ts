/** What the ledger is made of: small records that are only ever added. */
import { canonicalJson, sha256 } from "../../migrations/checksum.ts";
import type { FoundIndex } from "../../schema/table-index.ts";

/**
 * - `taken`: an epoch began; of n racers one is told that it added this record.
 * - `renewed`: the holder is still there.
 * - `advanced`: some actions of a migration are done, and a look at the table alone could not tell which.
 * - `applied`: a migration is done.
 * - `baselined`: the tables were as a migration leaves them, so that it counts as applied and never ran.
 * - `reverting`: a migration is being taken back; `step` of the actions that do so are done.
 * - `reverted`: it is taken back, and pending again.
 * - `failed`, `interrupted`: it stopped; `step` of its actions are done, or of those that take it back.
 * - `noted`: a file reads otherwise and does the same; its new text hash.
 * - `late`: a call of this migration, action `step`, may have been made after the lease had run out.
 * - `looked`: the table of such a call was found to be as it should.
 * - `rebuilt`: what this epoch says is applied is all that is; what stood before was found to be wrong, or was lost.
 * - `released`: the epoch ended as it should; `step` where a migration stays half-done.
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
 * A table's versions around what a migration did to it, where the target tells them. By the name that the table had
 * before. `shared`: others may have written to it in between. `times`: when these versions were made, in milliseconds since
 * 1970, which tells the table from another of its name; absent from records of older releases.
 */
export type TableVersions = Readonly<Record<string, OwnVersions>>;

export type OwnVersions = readonly [
  before: number | null,
  after: number | null,
  shared?: boolean,
  times?: readonly [before: number | null, after: number | null],
];

/** What an event says about a migration. */
export interface MigrationFacts {
  readonly version: number;
  readonly name: string;
  /** How many actions are done, of `total`; of those that take it back, while it is taken back. */
  readonly step: number;
  readonly total: number;
  /**
   * SHA-256 of the steps, or as long as the migration is not applied of those that have begun; of actions, while it is
   * taken back. On `renewed`, without a migration: of the saved plan that the run carries out.
   */
  readonly checksum: string;
  /** A short hash of each of these steps, so that a later change can be named. */
  readonly steps: readonly string[];
  /** SHA-256 of the file's text. */
  readonly textHash: string;
  readonly attempt: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly tables: TableVersions;
}

/** What an action of several commits loses on its way, to be put back. */
export interface Preserved {
  readonly indexes: Readonly<Record<string, FoundIndex>>;
  /** By the paths of the columns. */
  readonly metadata: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** An action of several commits that has begun. */
export interface PartialAction extends Preserved {
  /** The hash of its step: nobody could go on in the middle with another. */
  readonly step: string;
  /** So many of its commits are known to be done. */
  readonly commit: number;
}

export interface LedgerRecord extends Partial<MigrationFacts> {
  readonly epoch: number;
  /** 0 for the record that takes the epoch, then counted on. */
  readonly number: number;
  readonly event: LedgerEvent;
  /** Milliseconds since 1970 by the writer's clock: for people, nothing is decided by it. */
  readonly at: number;
  /** Who ran it: user, machine, process. */
  readonly by: string;
  /** One run of the tool, so that a runner knows its own records again. */
  readonly run: string;
  /** The tool's version. */
  readonly tool: string;
  /** On `taken` and `renewed`: for how many milliseconds the ledger may stand still before someone else may take over. */
  readonly lease?: number | undefined;
  /** The migration that the holder turns to next: the one in doubt, should it die now. */
  readonly next?: number | undefined;
  /** `name` is only the beginning of the migration's name: a marker had no room for the rest. Never written. */
  readonly isNameCut?: true | undefined;
  /** On `looked`: the epoch whose late call was looked at. */
  readonly late?: number | undefined;
  /** On `advanced`: the action after those that are done has begun. */
  readonly midway?: PartialAction | undefined;
  /** Why it failed, in words. */
  readonly detail?: string | undefined;
  /** Running hash over everything applied by the end of the write: a run with nothing pending needs to read just this. */
  readonly applied: string;
  /** Hash of the record before. */
  readonly previous: string;
}

/** What a writer says; the ledger adds the rest. */
export type LedgerEntry = Pick<LedgerRecord, "event" | "next" | "detail" | "lease" | "late" | "midway"> &
  Partial<MigrationFacts>;

/** The saved plan that a run says to carry out, by its hash or the beginning of that. */
export function savedPlanOf({ event, version, checksum }: LedgerRecord): string | undefined {
  return event === "renewed" && version === undefined && checksum !== "" ? checksum : undefined;
}

/** Over the whole record, for journals that keep it whole. */
export function recordHash(record: LedgerRecord): string {
  return sha256(canonicalJson(record));
}

/** Whether a migration is applied from then on. */
export function saysApplied({ event }: Pick<LedgerRecord, "event">): boolean {
  return event === "applied" || event === "baselined";
}

/** Where a record stands. */
export type RecordId = Pick<LedgerRecord, "epoch" | "number">;

/** Before every record. */
export const start: RecordId = { epoch: 0, number: 0 };

/** A record as people and other records name it: `<epoch>.<number>`. */
export function recordIdText({ epoch, number }: RecordId): string {
  return `${epoch}.${number}`;
}

/** Records count in this order, in whatever order they were written or read. */
export function byPlace(one: RecordId, other: RecordId): number {
  return one.epoch - other.epoch || one.number - other.number;
}
