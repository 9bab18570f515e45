/** Where records are kept. Two operations matter: add if absent, and read all. */
import type { LedgerRecord } from "./record.ts";

/** What one look at the newest record tells. */
export type LedgerHead = Pick<LedgerRecord, "epoch" | "number" | "by" | "applied">;

/** Whether two looks at the newest record saw the same one; no record is like no record. */
export function sameRecord(one: LedgerHead | undefined, other: LedgerHead | undefined): boolean {
  return one?.epoch === other?.epoch && one?.number === other?.number;
}

export interface Journal {
  /** The name people know the ledger by. */
  readonly name: string;
  /** The newest record, read without reading the others where the target can; undefined for a ledger without records. */
  head(): Promise<LedgerHead | undefined>;
  /** Every record, in any order. */
  read(): Promise<readonly LedgerRecord[]>;
  /** Adds the record that takes an epoch, unless somebody has: of n racing runners exactly one is told true. */
  take(record: LedgerRecord): Promise<boolean>;
  /** Adds records of the holder's own epoch. */
  add(records: readonly LedgerRecord[]): Promise<void>;
}
