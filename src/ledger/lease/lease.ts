/** The lease: which run may write, for how long, and how another run takes over if the holder stops renewing it. */
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import { recordChain, type Runner } from "./record-chain.ts";
import { elapsed, now, type Clock, type Moment } from "../../time/clock.ts";
import { foldLedger } from "../state/fold.ts";
import { isHalfDone, type LedgerState } from "../state/ledger-state.ts";
import type { Journal, LedgerHead } from "../journal/journal.ts";
import { start, type LedgerEntry, type LedgerRecord } from "../state/record.ts";

interface LeaseTerms {
  /** Another run may take over after this many milliseconds without a new record. */
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
  /** Renews the lease, if it is held, and states what this run does, for those who look at the status. */
  state(detail: string): Promise<void>;
  /** Call it before something is changed: makes sure that the lease is held. Throws ERR_LEASE_LOST, ERR_LEASE_SHORT. */
  check(): Promise<void>;
  /** Whether no other run can have taken over yet, by this run's clock and without reading the ledger. */
  isSure(): boolean;
  /** Adds a record to this run's epoch even if another run may hold a newer one: it sorts before that one's records. */
  recordLate(entry: LedgerEntry): Promise<void>;
  /**
   * Ends the epoch, with these last entries in the same write. Does nothing if it has ended. `next`: a migration that
   * stays in doubt.
   */
  release(entries?: readonly LedgerEntry[], next?: number): Promise<void>;
  /** Stops renewing: the lease expires unless it was released. */
  abandon(): void;
  /** Whether the ledger states that indexes are deferred. */
  defers(): boolean;
}

/** If this many epochs are over when their answer arrives, the ledger takes longer to answer than a lease lasts. */
const mostTries = 5;

/** Takes the epoch after `state`; undefined if another run was faster. `next`: the migration to begin with. */
export async function takeLease(
  journal: Journal,
  state: LedgerState,
  runner: Runner,
  next: number | undefined,
  { duration, clock }: LeaseTerms,
): Promise<Lease | undefined> {
  let chain = recordChain(state, runner, clock, journal.hashOf);
  let ledger: readonly LedgerRecord[] = [];
  // What this run has added since it read them.
  let own: LedgerRecord[] = [];
  let upcoming = next;
  // How far the holder is in a migration. If the holder takes another epoch, this entry is repeated before the first
  // record there about a migration: the records of an epoch alone must show whether it is being rolled back.
  let onTheWay: LedgerEntry | undefined;
  let repeats: boolean;
  // When the write of the last record in time was begun. Others measure from when they see that record, which is later.
  let held: Moment;
  let standing: "held" | "lost" | "released" = "lost";
  let epoch = 0;
  // Whether the record that took the epoch can't state how long the lease is. Then the next record does.
  let saysNothing = false;

  const renewal = (): LedgerEntry => ({ event: "renewed", next: upcoming, lease: duration });
  const takeEpoch = async (): Promise<void> => {
    const started = now(clock);
    const record = chain.begin({ event: "taken", next: upcoming, lease: duration });
    if (!(await take(journal, record))) return;
    // The earlier read may lack records. Then all following records would refer to the wrong one.
    ledger = await journal.read();
    // The engine lets a second writer win if it was suspended until others had cleaned up the versions in between.
    if (!ownersOf(record, ledger).every((run) => run === record.run)) return;
    // The holder of a newer epoch may have read fewer records, and records added here would refer to ones it lacks.
    if (ledger.some((other) => other.epoch > record.epoch)) return;
    own = [];
    // Older holders may add records until the epoch is taken.
    const before = ledger.filter((other) => other.epoch < record.epoch);
    chain = recordChain(foldLedger(before), runner, clock, journal.hashOf);
    chain.began(record);
    held = started;
    standing = "held";
    const isFirst = epoch === 0;
    epoch = record.epoch;
    saysNothing = journal.hashOf(record) === "";
    repeats = onTheWay !== undefined;
    if (saysNothing) {
      await write([renewal()]);
      ledger = await journal.read();
      own = [];
    }
    if (ledger.some((other) => other.epoch === epoch && other.number > 0 && other.run !== record.run)) {
      // A run that was under way has lost its lease, and may have changed tables.
      if (!isFirst) {
        standing = "lost";
        return;
      }
      const problem = "refuses a second create of the same name (another run has taken the lease with the same table)";
      throw new MigrateError("ERR_TARGET_UNFIT", { what: `the service of the ledger ${journal.name}`, problem });
    }
    // Before the length of the lease was recorded, another run may have waited for less and taken the next epoch.
    if (ledger.some((other) => other.epoch > epoch)) standing = "lost";
  };

  let queue: Promise<void> = Promise.resolve();
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const done = queue.then(work);
    const ended = () => {};
    queue = done.then(ended, ended);
    return done;
  };
  const overdue = () => elapsed(clock, held) >= duration;

  const write = async (entries: readonly LedgerEntry[]): Promise<void> => {
    if (standing === "lost") throw await lost();
    const started = now(clock);
    const about = entries.findLast(({ version }) => version !== undefined);
    const all = repeats && about !== undefined ? [onTheWay!, ...entries] : entries;
    await chain.write(all, async (records) => {
      await journal.add(records);
      own.push(...records);
    });
    // A record that came too late does not extend the lease: another run may already have found the ledger silent.
    if (!overdue()) held = started;
    upcoming = entries.at(-1)?.next;
    if (about === undefined) return;
    repeats = false;
    onTheWay = about.event === "advanced" || about.event === "reverting" ? about : undefined;
  };
  // Not in turn: in an object store it takes longer than a record, and the lease must be renewed meanwhile.
  let compaction: Promise<void> | undefined;
  const compact = (): Promise<void> =>
    (compaction ??= journal.compact().finally(() => {
      compaction = undefined;
    }));
  const renew = async (more?: Pick<LedgerEntry, "detail">): Promise<void> => {
    await write([{ ...renewal(), ...more }]);
    if (saysNothing && !(await journal.isNewest({ epoch, number: Infinity }))) standing = "lost";
  };
  const isHeld = () => standing === "held";
  const lost = async () =>
    new MigrateError("ERR_LEASE_LOST", { by: (await failing(() => journal.head()))?.by ?? "another run" });

  await takeEpoch();
  if (!isHeld()) return undefined;

  // Others wait for a whole lease without records. Renewing after a third leaves time for a slow write and a retry.
  let renewing = false;
  const stopRenewing = clock.every(duration / 6, () => {
    if (renewing || elapsed(clock, held) < duration / 3 || overdue()) return;
    renewing = true;
    // The next check notices a failure.
    void inTurn(() => renew())
      .finally(() => {
        renewing = false;
      })
      .then(compact)
      .catch(() => {});
  });

  return {
    ledger,
    epoch: () => epoch,
    async record(entries) {
      await inTurn(() => write(entries));
      await compact();
    },
    state: (detail) => inTurn(async () => void (isHeld() && !overdue() && (await renew({ detail })))),
    check: () =>
      inTurn(async () => {
        if (standing === "lost") throw await lost();
        if (elapsed(clock, held) < duration / 2) return;
        if (!overdue()) await renew();
        // This process slept too long to renew. It must take the next epoch itself, unless another run has. It requests
        // an epoch only once, so without an answer the lease is lost too.
        for (let tries = 0; isHeld() && overdue(); tries++) {
          if (tries === mostTries) throw new MigrateError("ERR_LEASE_SHORT", { seconds: duration / 1000 });
          standing = "lost";
          await failing(takeEpoch);
        }
        if (!isHeld()) throw await lost();
      }),
    defers: () => chain.defers(),
    recordLate: (entry) => inTurn(() => chain.write([entry], (records) => journal.add(records))),
    isSure: () => isHeld() && !overdue(),
    async release(entries = [], next) {
      stopRenewing();
      if (standing === "released") return;
      if (standing === "lost") {
        // The entries can no longer be recorded, and must not count as recorded.
        if (entries.length > 0) throw await lost();
        return;
      }
      standing = "released";
      const stopped = entries.findLast(({ event }) => event === "failed" || event === "interrupted");
      // A run that changed no table leaves what it found, except what its records have settled.
      const found = entries.length === 0 ? foldLedger([...ledger, ...own]) : undefined;
      const half = [...(found?.migrations.values() ?? [])].find(isHalfDone);
      const left = stopped ?? half?.reversal ?? half;
      const inDoubt = next ?? [...(found?.inDoubt ?? [])][0];
      const stays = left !== undefined && (half !== undefined || left.step !== 0 || left.midway !== undefined);
      const released = { event: "released", ...(stays ? { step: left.step, total: left.total } : {}) } as const;
      // Each entry has `next`: if entries are written one by one, the last may be missing.
      await inTurn(() => write([...entries, released].map((entry) => ({ ...entry, next: inDoubt }))));
      await compact();
    },
    abandon: stopRenewing,
  };
}

/** A run that is under way may have changed tables: if its ledger can't be read any more, it has failed and is not refused. */
async function failing<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (!isMigrateError(cause, "ERR_LEDGER_UNREADABLE")) throw cause;
    throw new MigrateError("ERR_LEDGER_UNWRITABLE", cause.details, { cause });
  }
}

/** Takes the epoch. If the answer is no or is lost, the ledger shows which run has it: it may be this one. */
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

/** The runs that took the epoch of that record: at most one if the target fulfils its contract. */
function ownersOf({ epoch }: LedgerRecord, records: readonly LedgerRecord[]): readonly string[] {
  return records.filter((other) => other.epoch === epoch && other.number === 0).map(({ run }) => run);
}

interface WaitTerms extends LeaseTerms {
  /** The most milliseconds to wait for a holder that is known to be running. */
  readonly patience: number;
  /**
   * The record after which an earlier wait found the ledger silent for a whole lease, if there was one. If its epoch
   * has a newer record, its holder is running.
   */
  readonly after?: LedgerHead | undefined;
  /** Whether this newest record ends the wait. If absent, only the end of the epoch does. */
  readonly until?: ((seen: LedgerHead) => boolean) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits for the holder; there must be one. Returns the record after which none was added for a whole lease, so that the
 * lease may be taken over; undefined if the epoch has ended or `until` accepts a record. Throws ERR_LEASE_HELD when
 * patience runs out. But it waits a whole lease for a holder that may be dead: otherwise the lease of a dead holder
 * would never be taken over.
 */
export async function waitForHolder(
  journal: Journal,
  { head, holder }: LedgerState,
  { duration, clock, patience, after, until, signal }: WaitTerms,
): Promise<LedgerHead | undefined> {
  // Only the steady clock counts: a wall clock that is set forward must shorten neither the lease nor the patience.
  const began = clock.steady();
  let newest: LedgerHead | undefined = head;
  let since = began;
  // The holder counts by its own lease duration, which may be longer than this run's.
  let silence = Math.max(duration, holder?.lease ?? 0);
  let longest = longestPause;
  for (let pause = 25; ; pause = Math.min(pause * 1.5, longest)) {
    // A holder that has added a record during the wait is running.
    const atWork = newest !== head || after?.epoch === head?.epoch;
    if (atWork && clock.steady() - began >= patience) throw new MigrateError("ERR_LEASE_HELD", { by: holder!.by });
    // Many runs that wait for one holder should not ask at the same moments.
    await clock.sleep(pause * (0.75 + clock.random() / 2), signal);
    const asked = clock.steady();
    const isNewest = await journal.isNewest(newest ?? start);
    // If answers take long, many runs are asking, and the holder waits for its answers too. So ask less often.
    longest = Math.max(longestPause, Math.min(20 * (clock.steady() - asked), silence / 3));
    if (isNewest) {
      // The time of the request counts, not that of the answer, which may have been under way for long.
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
