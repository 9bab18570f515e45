/** The holder's records in a row: numbered, each with the hash of the one before and the running hash of what is applied. */
import { appliedHash, type AppliedEntry, type AppliedHash } from "./applied-hash.ts";
import type { Clock } from "./clock.ts";
import type { LedgerState } from "./fold.ts";
import { recordHash, type LedgerEntry, type LedgerRecord } from "./record.ts";

/** One run of the tool, as its records name it. */
export interface Runner {
  readonly by: string;
  readonly run: string;
  readonly tool: string;
}

export interface RecordChain {
  /** The record that begins the next epoch. */
  begin(entry: LedgerEntry): LedgerRecord;
  /** Adds what `write` stores to the chain; what could not be stored is no link of it. */
  write(entries: readonly LedgerEntry[], write: (records: readonly LedgerRecord[]) => Promise<void>): Promise<void>;
}

/** The chain that goes on from a ledger as it was read. */
export function recordChain(state: LedgerState, runner: Runner, clock: Clock): RecordChain {
  let hash: AppliedHash = appliedHash([...state.migrations.values()].filter(({ status }) => status === "applied"));
  let last: LedgerRecord | undefined = state.head;
  let { epoch } = state;
  let number = 0;

  const link = (entries: readonly LedgerEntry[]): readonly LedgerRecord[] => {
    // Once for all of them: a formatter may have touched thousands of files.
    hash = hash.with(entries.flatMap(appliedEntry));
    return entries.map((entry) => {
      const place = { epoch, number: number++, at: clock.wall(), applied: hash.value, previous: recordHash(last) };
      last = { ...entry, ...runner, ...place };
      return last;
    });
  };

  return {
    begin(entry) {
      epoch++;
      number = 0;
      return link([entry])[0]!;
    },
    async write(entries, write) {
      const before = { hash, last };
      try {
        await write(link(entries));
      } catch (error) {
        // The numbers are not used again: the records may have been stored all the same.
        ({ hash, last } = before);
        throw error;
      }
    },
  };
}

function appliedEntry({ event, version, textHash }: LedgerEntry): readonly AppliedEntry[] {
  const counts = event === "applied" || event === "noted";
  return counts && version !== undefined && textHash !== undefined ? [{ version, textHash }] : [];
}
