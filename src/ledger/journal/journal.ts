/** The storage of records. Two operations matter: add if absent, and read all. */
import { MigrateError } from "../../errors/migrate-error.ts";
import { saysApplied, saysDeferred, type LedgerRecord, type RecordId } from "../state/record.ts";

/** The fields of the newest record that are read without the whole ledger. */
export type LedgerHead = Pick<
  LedgerRecord,
  "epoch" | "number" | "event" | "version" | "step" | "by" | "lease" | "next" | "applied" | "detail"
>;

/** Whether, by its newest record, the ledger has no migration that is partly done or in doubt. */
export function isAtRest(head: LedgerHead): boolean {
  const { event, step, next } = head;
  return next === undefined && (step === undefined || saysApplied(head) || event === "reverted");
}

/** Whether two reads of the newest record returned the same one. Two reads without a record count as the same. */
export function sameRecord(one: LedgerHead | undefined, other: LedgerHead | undefined): boolean {
  return one?.epoch === other?.epoch && one?.number === other?.number;
}

/**
 * Clears `applied` if the newest record does not show everything: the ledger records a late call, which some run may have
 * checked since, or an older release has written after a record that states deferred indexes. The caller must read the
 * whole ledger.
 */
export function withoutAnswer(head: LedgerHead, isSilent: boolean): LedgerHead {
  return isSilent ? { ...head, applied: "" } : head;
}

/** Whether indexes may be deferred. If this is true, the whole ledger shows whether some are. */
export function mayDefer({ applied, detail }: LedgerHead): boolean {
  return saysDeferred(detail) ?? applied === "";
}

/** For a ledger with records only in the form that the target does not read: otherwise everything would run again. */
export function otherForm(ledger: string, how: string): MigrateError {
  const problem = `it is kept ${how}; use the target that it was written with`;
  return new MigrateError("ERR_LEDGER_UNREADABLE", { ledger, problem });
}

export interface Journal {
  /** The name by which people know the ledger. */
  readonly name: string;
  /** The newest record, read without the others if the target supports that; undefined if there are no records. */
  head(): Promise<LedgerHead | undefined>;
  /** Whether no record comes after this one. A waiting run asks again and again, so this is as cheap as possible. */
  isNewest(place: RecordId): Promise<boolean>;
  /** Every record, in any order. */
  read(): Promise<readonly LedgerRecord[]>;
  /** Adds the record that takes an epoch, unless another run has. Of n racing runs exactly one gets true. */
  take(record: LedgerRecord): Promise<boolean>;
  /** Adds records of the holder's own epoch. */
  add(records: readonly LedgerRecord[]): Promise<void>;
  /**
   * Merges what many records have left, if the target needs that. May take much longer than adding a record, and
   * records may be added meanwhile. Never rejects: a ledger that can't be compacted is only slower.
   */
  compact(): Promise<void>;
  /**
   * The hash by which the next record refers to this one, over the fields that every run can read. Empty if only its
   * position can be read; the next record then refers to the record before.
   */
  hashOf(record: LedgerRecord): string;
}
