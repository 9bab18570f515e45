/** Chains the holder's records: each gets a number, the hash of the one before, and the hash of what is applied. */
import { appliedHash, type AppliedEntry, type AppliedHash } from "../state/applied-hash.ts";
import type { Clock } from "../../time/clock.ts";
import { appliedIn, type LedgerState } from "../state/ledger-state.ts";
import { isNothingReverted, saysApplied, saysDeferred, type LedgerEntry, type LedgerRecord } from "../state/record.ts";

/** Identifies a run in its records. */
export interface Runner {
  readonly by: string;
  readonly run: string;
  readonly tool: string;
}

export interface RecordChain {
  /** Whether the records state that indexes are deferred. */
  defers(): boolean;
  /** Returns the record that takes the next epoch. It joins the chain with `began`, once the run has the epoch. */
  begin(entry: LedgerEntry): LedgerRecord;
  /** Makes the following records continue from that one. */
  began(record: LedgerRecord): void;
  /** Stores the entries with `write` and adds them to the chain. If the write fails, they are not part of the chain. */
  write(entries: readonly LedgerEntry[], write: (records: readonly LedgerRecord[]) => Promise<void>): Promise<void>;
}

/** A chain that continues a ledger as it was read. */
export function recordChain(
  state: LedgerState,
  runner: Runner,
  clock: Clock,
  hashOf: (record: LedgerRecord) => string,
): RecordChain {
  let hash: AppliedHash = appliedHash(appliedIn(state));
  /** Migrations that count as applied again if their rollback ends before anything was done. */
  const kept = new Map([...state.migrations].filter(([, { status }]) => status === "applied"));
  const hashes = (record: LedgerRecord | undefined) => (record === undefined ? "" : hashOf(record));
  // What this epoch has recorded as applied. After `rebuilt`, only that counts.
  let own: AppliedEntry[] = [];
  let last = hashes(state.head) || hashes(state.lastStatement);
  let { epoch } = state;
  // Once a record states which indexes are deferred, those that are about no migration repeat it, also that none are: one
  // of them is the newest after each run, and a run with nothing pending reads no other.
  let { deferral } = state;
  let number = 0;

  const link = (entry: LedgerEntry, at: Pick<LedgerRecord, "epoch" | "number">): LedgerRecord => ({
    ...entry,
    ...(entry.version === undefined && deferral !== undefined && { detail: entry.detail ?? deferral }),
    ...runner,
    by: entry.by ?? runner.by,
    ...at,
    at: entry.at ?? clock.wall(),
    applied: hash.value,
    previous: last,
  });

  const append = (entry: LedgerEntry): LedgerRecord => {
    if (saysDeferred(entry.detail) !== undefined) deferral = entry.detail;
    const record = link(entry, { epoch, number: number++ });
    last = hashOf(record);
    return record;
  };

  return {
    defers: () => saysDeferred(deferral) === true,
    begin: (entry) => link(entry, { epoch: epoch + 1, number: 0 }),
    began(record) {
      last = hashOf(record) || last;
      own = [];
      epoch = record.epoch;
      number = 1;
    },
    async write(entries, write) {
      const before = { hash, last, deferral };
      const saidBefore = own;
      // One update of the hash for all entries: a formatter may have changed thousands of files.
      const { said, gone } = changesBy(entries, kept);
      own = [...own.filter(({ version }) => !gone.has(version)), ...said];
      hash = entries.some(({ event }) => event === "rebuilt") ? appliedHash([]).with(own) : hash.with(said, gone);
      try {
        await write(entries.map(append));
      } catch (error) {
        // The numbers are not used again, because the records may have been stored anyway.
        ({ hash, last, deferral } = before);
        own = saidBefore;
        throw error;
      }
    },
  };
}

/** What the entries add to the applied migrations, and what they remove. The last entry about a migration counts. */
function changesBy(
  entries: readonly LedgerEntry[],
  kept: ReadonlyMap<number, AppliedEntry>,
): { readonly said: readonly AppliedEntry[]; readonly gone: ReadonlySet<number | undefined> } {
  const said = new Map<number, AppliedEntry>();
  const gone = new Set<number | undefined>();
  for (const entry of entries) {
    if (entry.event === "reverting" || entry.event === "reverted") {
      said.delete(entry.version!);
      gone.add(entry.version);
      continue;
    }
    const again = isNothingReverted(entry) ? kept.get(entry.version!) : undefined;
    for (const one of again === undefined ? appliedEntry(entry) : [again]) {
      said.set(one.version, one);
      gone.delete(one.version);
    }
  }
  return { said: [...said.values()], gone };
}

function appliedEntry(entry: LedgerEntry): readonly AppliedEntry[] {
  const { event, version, textHash } = entry;
  const counts = saysApplied(entry) || event === "noted";
  return counts && version !== undefined && textHash !== undefined ? [{ version, textHash }] : [];
}
