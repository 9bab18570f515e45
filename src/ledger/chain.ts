/** The holder's records in a row: numbered, each with the hash of the one before and the running hash of what is applied. */
import { appliedHash, type AppliedHash } from "./applied-hash.ts";
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
  /** The next records. */
  extend(entries: readonly LedgerEntry[]): readonly LedgerRecord[];
  /** Extends the chain by what `write` stores; what could not be stored is no link of it. */
  write(entries: readonly LedgerEntry[], write: (records: readonly LedgerRecord[]) => Promise<void>): Promise<void>;
}

export function recordChain(state: LedgerState, runner: Runner, epoch: number, clock: Clock): RecordChain {
  let hash: AppliedHash = appliedHash([...state.migrations.values()].filter(({ status }) => status === "applied"));
  let last: LedgerRecord | undefined = state.head;
  let number = 0;

  const extend = (entries: readonly LedgerEntry[]) =>
    entries.map((entry) => {
      const { event, version, textHash } = entry;
      if ((event === "applied" || event === "noted") && version !== undefined && textHash !== undefined)
        hash = hash.with({ version, textHash });
      const link = { epoch, number: number++, at: clock.wall(), applied: hash.value, previous: recordHash(last) };
      last = { ...entry, ...runner, ...link };
      return last;
    });

  return {
    extend,
    async write(entries, write) {
      const before = { hash, last };
      try {
        await write(extend(entries));
      } catch (error) {
        // The numbers are not used again: the records may have been stored all the same.
        ({ hash, last } = before);
        throw error;
      }
    },
  };
}
