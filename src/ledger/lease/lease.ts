/** The lease: who may write, for how long, and how it passes on when its holder is never heard of again. */
import { MigrateError } from "../../errors/migrate-error.ts";
import { recordChain, type Runner } from "./record-chain.ts";
import { elapsed, now, type Clock, type Moment } from "../../time/clock.ts";
import { foldLedger, isHalfDone, type LedgerState } from "../state/fold.ts";
import type { Journal, LedgerHead } from "../journal/journal.ts";
import { start, type LedgerEntry, type LedgerRecord } from "../state/record.ts";

export interface LeaseTerms {
  /** Milliseconds for which the ledger may stand still before another runner may take over. */
  readonly duration: number;
  readonly clock: Clock;
}

export interface Lease {
  /** The ledger as it was read after the lease was taken. */
  readonly ledger: readonly LedgerRecord[];
  /** The epoch that was held last: nobody else has held it. */
  epoch(): number;
  /** Adds records in the order of the calls. */
  record(entries: readonly LedgerEntry[]): Promise<void>;
  /** Makes sure that the lease is still ours before something is changed. Throws ERR_LEASE_LOST. */
  check(): Promise<void>;
  /** Whether nobody can have taken over yet, by our own clock and without asking. */
  isSure(): boolean;
  /** Adds a record to our epoch although somebody may hold a newer one: it sorts before that one's records. */
  recordLate(entry: LedgerEntry): Promise<void>;
  /**
   * Ends the epoch, after these last entries in the same write. Does nothing when it has ended. `next` is a migration that
   * stays in doubt.
   */
  release(entries?: readonly LedgerEntry[], next?: number): Promise<void>;
  /** Renews no more: unless it was released, the lease runs out. */
  abandon(): void;
}

/** An epoch that is over when the answer comes says that answers take longer than leases. */
const mostTries = 5;

/** Takes the epoch after `state`; undefined when somebody else was quicker. `next` is the migration to begin with. */
export async function takeLease(
  journal: Journal,
  state: LedgerState,
  runner: Runner,
  next: number | undefined,
  { duration, clock }: LeaseTerms,
): Promise<Lease | undefined> {
  let chain = recordChain(state, runner, clock, journal.hashOf);
  let ledger: readonly LedgerRecord[] = [];
  // What the ledger says without this epoch. Older holders may add records until the epoch is taken.
  let before = state;
  let upcoming = next;
  // How far the holder is in a migration. Where it takes another epoch, the first record there about the migration follows it
  // once more: the records of an epoch have to tell by themselves whether it is rolled back.
  let onTheWay: LedgerEntry | undefined;
  let repeats = false;
  // When the last record that others can have seen in time was begun: they measure from when they see it, so later.
  let held: Moment;
  let standing: "held" | "lost" | "released" = "lost";
  let epoch = 0;
  // Whether the record that took the epoch can't say how long the lease is: the next one does.
  let saysNothing = false;

  const renewal = (): LedgerEntry => ({ event: "renewed", next: upcoming, lease: duration });
  const takeEpoch = async (): Promise<void> => {
    const started = now(clock);
    const record = chain.begin({ event: "taken", next: upcoming, lease: duration });
    if (!(await take(journal, record))) return;
    // What was read before may lack records, and all that follows would refer to the wrong one.
    ledger = await journal.read();
    // The engine lets a second writer win that was stopped until others had cleaned up the versions in between.
    if (!ownersOf(record, ledger).every((run) => run === record.run)) return;
    // The holder of a newer epoch may have read less than this. What is written here would refer to what it has not seen.
    if (ledger.some((other) => other.epoch > record.epoch)) return;
    before = foldLedger(ledger.filter((other) => other.epoch < record.epoch));
    chain = recordChain(before, runner, clock, journal.hashOf);
    chain.began(record);
    held = started;
    standing = "held";
    epoch = record.epoch;
    saysNothing = journal.hashOf(record) === "";
    repeats = onTheWay !== undefined;
    if (saysNothing) {
      await write([renewal()]);
      ledger = await journal.read();
    }
    // Before the lease's length was said, somebody may have waited for less and taken the next epoch.
    if (ledger.some((other) => other.epoch > epoch)) standing = "lost";
  };

  let queue: Promise<void> = Promise.resolve();
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const done = queue.then(work);
    queue = done.then(
      () => {},
      () => {},
    );
    return done;
  };
  const overdue = () => elapsed(clock, held) >= duration;

  const write = async (entries: readonly LedgerEntry[]): Promise<void> => {
    if (standing === "lost") throw await lost();
    const started = now(clock);
    const about = entries.findLast(({ version }) => version !== undefined);
    const all = repeats && about !== undefined ? [onTheWay!, ...entries] : entries;
    await chain.write(all, (records) => journal.add(records));
    // A record that came too late holds nothing: somebody may already have found the ledger silent.
    if (!overdue()) held = started;
    upcoming = entries.at(-1)?.next;
    if (about === undefined) return;
    repeats = false;
    onTheWay = about.event === "advanced" || about.event === "reverting" ? about : undefined;
  };
  const renew = async (): Promise<void> => {
    await write([renewal()]);
    if (saysNothing && !(await journal.isNewest({ epoch, number: Infinity }))) standing = "lost";
  };
  const isHeld = () => standing === "held";
  const lost = async () => new MigrateError("ERR_LEASE_LOST", { by: (await journal.head())?.by ?? "another run" });

  await takeEpoch();
  if (!isHeld()) return undefined;

  // Others wait for a whole duration of silence; a third of it leaves room for a slow write and another try.
  let renewing = false;
  const stopRenewing = clock.every(duration / 6, () => {
    if (renewing || elapsed(clock, held) < duration / 3 || overdue()) return;
    renewing = true;
    // What goes wrong here is found by the next check.
    void inTurn(renew)
      .catch(() => {})
      .finally(() => {
        renewing = false;
      });
  });

  return {
    ledger,
    epoch: () => epoch,
    record: (entries) => inTurn(() => write(entries)),
    check: () =>
      inTurn(async () => {
        if (standing === "lost") throw await lost();
        if (elapsed(clock, held) < duration / 2) return;
        if (!overdue()) await renew();
        // Slept too long to renew. Whoever takes the next epoch is the holder: us, if nobody else has. An epoch that was
        // asked for is not asked for again, so without an answer it is lost too.
        for (let tries = 0; isHeld() && overdue(); tries++) {
          if (tries === mostTries) throw new MigrateError("ERR_LEASE_SHORT", { seconds: duration / 1000 });
          standing = "lost";
          await takeEpoch();
        }
        if (!isHeld()) throw await lost();
      }),
    recordLate: (entry) => inTurn(() => chain.write([entry], (records) => journal.add(records))),
    isSure: () => isHeld() && !overdue(),
    async release(entries = [], next) {
      stopRenewing();
      if (standing === "released") return;
      if (standing === "lost") {
        // What is not recorded must not count as recorded.
        if (entries.length > 0) throw await lost();
        return;
      }
      standing = "released";
      const stopped = entries.findLast(({ event }) => event === "failed" || event === "interrupted");
      // Who ends without having done anything leaves what he found.
      const found = entries.length === 0 ? before : undefined;
      const half = [...(found?.migrations.values() ?? [])].find(isHalfDone);
      const left = stopped ?? half?.reversal ?? half;
      const inDoubt = next ?? [...(found?.doubtful ?? [])][0];
      const stays = left !== undefined && (half !== undefined || left.step !== 0 || left.midway !== undefined);
      const released = { event: "released", ...(stays ? { step: left.step, total: left.total } : {}) } as const;
      // In each of them: where they are written one by one, the last may be missing.
      await inTurn(() => write([...entries, released].map((entry) => ({ ...entry, next: inDoubt }))));
    },
    abandon: stopRenewing,
  };
}

/** Takes the epoch. When the answer says no, or is lost, looks who has it: it may be us. */
async function take(journal: Journal, record: LedgerRecord): Promise<boolean> {
  let failure: unknown;
  try {
    if (await journal.take(record)) return true;
  } catch (error) {
    failure = error;
  }
  const [owner] = ownersOf(record, await journal.read());
  if (owner === undefined && failure !== undefined) throw failure;
  return owner === record.run;
}

/** The runs that took the epoch of that record: one, wherever the target keeps what it promises. */
function ownersOf({ epoch }: LedgerRecord, records: readonly LedgerRecord[]): readonly string[] {
  return records.filter((other) => other.epoch === epoch && other.number === 0).map(({ run }) => run);
}

export interface WaitTerms extends LeaseTerms {
  /** Milliseconds to wait at most for a holder that is known to be at work. */
  readonly patience: number;
  /** The record after which the ledger was silent for so long, if it was: whoever has written since is at work. */
  readonly after?: LedgerHead | undefined;
  /** Whether this newest record ends the wait; only the end of the epoch does when absent. */
  readonly until?: ((seen: LedgerHead) => boolean) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits for the holder, which has to be one. Gives the record after which the ledger has stood still for a whole lease, so that
 * it may be taken over; undefined when the epoch has ended, or what is waited for is applied. Throws ERR_LEASE_HELD when
 * patience runs out; but as long as the holder may be dead it is waited for a whole lease, or a dead one would never be
 * taken over from.
 */
export async function waitForHolder(
  journal: Journal,
  { head, holder }: LedgerState,
  { duration, clock, patience, after, until, signal }: WaitTerms,
): Promise<LedgerHead | undefined> {
  // By the steady clock alone: a wall clock that is set forward must not shorten somebody's lease, nor our patience.
  const began = clock.steady();
  let newest: LedgerHead | undefined = head;
  let since = began;
  // The holder counts by its own duration, which may be longer than ours.
  let silence = Math.max(duration, holder?.lease ?? 0);
  let longest = longestPause;
  for (let pause = 25; ; pause = Math.min(pause * 1.5, longest)) {
    // Whoever has written while we waited is at work.
    const atWork = newest !== head || after?.epoch === head?.epoch;
    if (atWork && clock.steady() - began >= patience) throw new MigrateError("ERR_LEASE_HELD", { by: holder!.by });
    // Many runners that wait for one holder should not ask at the same instants.
    await clock.sleep(pause * (0.75 + clock.random() / 2), signal);
    const asked = clock.steady();
    const isNewest = await journal.isNewest(newest ?? start);
    // Where answers take long, many are asking: the holder is among those who wait for one.
    longest = Math.max(longestPause, Math.min(20 * (clock.steady() - asked), silence / 3));
    if (isNewest) {
      // When we asked, not when the answer came: it may have been under way for long.
      if (asked - since > silence) return newest;
      continue;
    }
    const seen = await journal.head();
    if (seen === undefined || seen.epoch !== newest?.epoch || seen.event === "released") return undefined;
    if (until?.(seen) === true) return undefined;
    newest = seen;
    since = clock.steady();
    silence = Math.max(silence, seen.lease ?? 0);
  }
}

const longestPause = 500;
