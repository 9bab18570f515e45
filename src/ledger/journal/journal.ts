/** Where records are kept. Two operations matter: add if absent, and read all. */
import { MigrateError } from "../../errors/migrate-error.ts";
import { saysApplied, type LedgerRecord, type RecordId } from "../state/record.ts";

/** What one look at the newest record tells. */
export type LedgerHead = Pick<
  LedgerRecord,
  "epoch" | "number" | "event" | "version" | "step" | "by" | "lease" | "next" | "applied"
>;

/** Whether this newest record leaves no migration half-done or in doubt. */
export function isAtRest(head: LedgerHead): boolean {
  const { event, step, next } = head;
  return next === undefined && (step === undefined || saysApplied(head) || event === "reverted");
}

/** Whether two looks at the newest record saw the same one; no record is like no record. */
export function sameRecord(one: LedgerHead | undefined, other: LedgerHead | undefined): boolean {
  return one?.epoch === other?.epoch && one?.number === other?.number;
}

/**
 * The newest record of a ledger in which a late call is recorded does not say what is applied: whoever asks has to read
 * it all, and find out whether somebody has looked since.
 */
export function withoutAnswer(head: LedgerHead, late: boolean): LedgerHead {
  return late ? { ...head, applied: "" } : head;
}

/** Where nothing is recorded in the form that a target reads, and something in the other: everything would run again. */
export function otherForm(ledger: string, how: string): MigrateError {
  const problem = `it is kept ${how}; use the target that it was written with`;
  return new MigrateError("ERR_LEDGER_UNREADABLE", { ledger, problem });
}

export interface Journal {
  /** The name people know the ledger by. */
  readonly name: string;
  /** The newest record, read without reading the others where the target can; undefined for a ledger without records. */
  head(): Promise<LedgerHead | undefined>;
  /** Whether no record comes after this one: what waiting asks, again and again, and so as cheap as can be. */
  isNewest(place: RecordId): Promise<boolean>;
  /** Every record, in any order. */
  read(): Promise<readonly LedgerRecord[]>;
  /** Adds the record that takes an epoch, unless somebody has: of n racing runners exactly one is told true. */
  take(record: LedgerRecord): Promise<boolean>;
  /** Adds records of the holder's own epoch. */
  add(records: readonly LedgerRecord[]): Promise<void>;
  /**
   * The hash by which the record after this one refers to it: over what everybody can read of it. Empty for one of which
   * nothing but its place can be read; who follows it refers to the record before.
   */
  hashOf(record: LedgerRecord): string;
}
