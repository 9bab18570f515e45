/** The lease: who may write, for how long, and how it passes on when its holder is never heard of again. */
import { MigrateError } from "../errors.ts";
import { recordChain, type Runner } from "./chain.ts";
import { elapsed, now, type Clock } from "./clock.ts";
import type { LedgerState } from "./fold.ts";
import type { Journal } from "./journal.ts";
import type { LedgerEntry, LedgerRecord } from "./record.ts";

export interface LeaseTerms {
  /** Milliseconds for which the ledger may stand still before another runner may take over. */
  readonly duration: number;
  readonly clock: Clock;
}

export interface Lease {
  readonly epoch: number;
  /** Adds records in the order of the calls. */
  record(entries: readonly LedgerEntry[]): Promise<void>;
  /** Makes sure that the lease is still ours before something is changed. Throws ERR_LEASE_LOST. */
  check(): Promise<void>;
  /** Ends the epoch, after these last entries in the same write. Does nothing when it has ended. */
  release(entries?: readonly LedgerEntry[]): Promise<void>;
}

/** Takes the epoch after `state`; undefined when somebody else was quicker. `next` is the migration to begin with. */
export async function takeLease(
  journal: Journal,
  state: LedgerState,
  runner: Runner,
  next: number | undefined,
  { duration, clock }: LeaseTerms,
): Promise<Lease | undefined> {
  const epoch = state.epoch + 1;
  const chain = recordChain(state, runner, epoch, clock);
  // The time before a call counts: others may see its record from then on, and they measure from when they see it.
  let written = now(clock);
  const [taken] = chain.extend([{ event: "taken", next, lease: duration }]);
  if (!(await take(journal, taken!))) return undefined;

  let upcoming = next;
  let queue: Promise<void> = Promise.resolve();
  let ended = false;

  const record = (entries: readonly LedgerEntry[]): Promise<void> => {
    const write = async () => {
      const started = now(clock);
      await chain.write(entries, (records) => journal.add(records));
      written = started;
      upcoming = entries.at(-1)?.next;
    };
    const done = queue.then(write);
    queue = done.catch(() => {});
    return done;
  };

  const renew = () => record([{ event: "renewed", next: upcoming }]);

  // Others wait for a whole duration of silence; a third of it leaves room for a slow write and another try.
  const stopRenewing = clock.every(duration / 6, () => {
    // What goes wrong here is found by the next check, which then reads the ledger.
    if (elapsed(clock, written) >= duration / 3) void renew().catch(() => {});
  });

  return {
    epoch,
    record,
    async check() {
      if (elapsed(clock, written) < duration / 2) return;
      const head = await journal.head();
      if (head !== undefined && head.epoch > epoch) {
        ended = true;
        stopRenewing();
        throw new MigrateError("ERR_LEASE_LOST", { by: head.by });
      }
      await renew();
    },
    async release(entries = []) {
      stopRenewing();
      if (ended) return;
      ended = true;
      await record([...entries, { event: "released" }]);
    },
  };
}

/** Takes the epoch, and when the answer is lost looks who has it. */
async function take(journal: Journal, record: LedgerRecord): Promise<boolean> {
  try {
    return await journal.take(record);
  } catch (error) {
    const owner = (await journal.read()).find(({ epoch, number }) => epoch === record.epoch && number === 0);
    if (owner === undefined) throw error;
    return owner.run === record.run;
  }
}

export interface WaitTerms extends LeaseTerms {
  /** Milliseconds to wait at most. */
  readonly patience: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits while somebody holds the lease. Resolves to true when the ledger has stood still for a whole lease, so that it
 * may be taken over, and to false when the ledger has moved on. Throws ERR_LEASE_HELD when patience runs out.
 */
export async function waitForHolder(
  journal: Journal,
  { head, holder }: LedgerState,
  waited: number,
  { duration, clock, patience, signal }: WaitTerms,
): Promise<boolean> {
  const since = now(clock);
  // The holder counts by its own duration, which may be longer than ours.
  const silence = Math.max(duration, holder?.lease ?? 0);
  for (let pause = 25; ; pause = Math.min(pause * 1.5, 500)) {
    if (waited + elapsed(clock, since) >= patience)
      throw new MigrateError("ERR_LEASE_HELD", { by: holder?.by ?? "somebody", waited: Math.round(patience / 1000) });
    // Many runners that wait for one holder should not ask at the same instants.
    await clock.sleep(pause * (0.75 + Math.random() / 2), signal);
    const seen = await journal.head();
    if (seen?.epoch !== head?.epoch || seen?.number !== head?.number) return false;
    // By the steady clock alone: a wall clock that is set forward must not shorten somebody's lease.
    if (clock.steady() - since.steady > silence) return true;
  }
}
