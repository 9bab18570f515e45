/** The lease: which run may write, and for how long. */
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import { oneAfterTheOther, onceAtATime } from "./turns.ts";
import { recordChain, type RecordChain, type Runner } from "./record-chain.ts";
import { elapsed, now, type Clock, type Moment } from "../../time/clock.ts";
import { foldLedger } from "../state/fold.ts";
import { isHalfDone, type LedgerState } from "../state/ledger-state.ts";
import type { Journal } from "../journal/journal.ts";
import type { LedgerEntry, LedgerRecord } from "../state/record.ts";

export interface LeaseTerms {
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

/** What a run knows of its lease. */
interface Holding extends LeaseTerms {
  readonly journal: Journal;
  readonly runner: Runner;
  /** Whether the run holds the lease. It has lost the one that it has not taken yet. */
  standing: "held" | "lost" | "released";
  /** The epoch that was held last, 0 before the first. */
  epoch: number;
  chain: RecordChain;
  /** The records as they were read last, and those that this run has added since. */
  ledger: readonly LedgerRecord[];
  own: LedgerRecord[];
  /** When the write of the last record in time was begun. Others measure from when they see that record, which is later. */
  since: Moment;
  /** The migration that the run works on next. */
  next: number | undefined;
  /** How far the run is in a migration. */
  onTheWay: { readonly entry: LedgerEntry; readonly isStated: boolean } | undefined;
  /** Whether the record that took the epoch states how long the lease is. Otherwise the next record does. */
  isLengthStated: boolean;
}

/** Takes the epoch after `state`; undefined if another run was faster. `next`: the migration to begin with. */
export async function takeLease(
  journal: Journal,
  state: LedgerState,
  runner: Runner,
  next: number | undefined,
  { duration, clock }: LeaseTerms,
): Promise<Lease | undefined> {
  const holding: Holding = {
    journal,
    runner,
    duration,
    clock,
    standing: "lost",
    epoch: 0,
    chain: recordChain(state, runner, clock, journal.hashOf),
    ledger: [],
    own: [],
    since: now(clock),
    next,
    onTheWay: undefined,
    isLengthStated: true,
  };
  await takeEpoch(holding);
  if (!isHeld(holding)) return undefined;
  const inTurn = oneAfterTheOther();
  // Not in turn: in an object store it takes longer than a record, and the lease must be renewed meanwhile.
  const compact = onceAtATime(() => journal.compact());
  // Others wait for a whole lease without records. Renewing after a third leaves time for a slow write and a retry.
  const renewOnce = onceAtATime(async () => {
    await inTurn(() => renew(holding));
  });
  const stopRenewing = clock.every(duration / 6, () => {
    if (elapsed(clock, holding.since) < duration / 3 || isOverdue(holding)) return;
    // The next check notices a failure.
    void renewOnce()
      .then(compact)
      .catch(() => {});
  });
  return {
    ledger: holding.ledger,
    epoch: () => holding.epoch,
    async record(entries) {
      await inTurn(() => write(holding, entries));
      await compact();
    },
    state: (detail) => inTurn(async () => void (isSure(holding) && (await renew(holding, { detail })))),
    check: () => inTurn(() => makeSure(holding)),
    defers: () => holding.chain.defers(),
    recordLate: (entry) => inTurn(() => holding.chain.write([entry], (records) => journal.add(records))),
    isSure: () => isSure(holding),
    async release(entries = [], inDoubt) {
      stopRenewing();
      if (holding.standing === "released") return;
      // Entries that can no longer be recorded must not count as recorded.
      if (!isHeld(holding) && entries.length > 0) throw await lost(holding);
      if (!isHeld(holding)) return;
      holding.standing = "released";
      const last = lastEntries(holding, entries, inDoubt);
      await inTurn(() => write(holding, last));
      await compact();
    },
    abandon: stopRenewing,
  };
}

function isHeld({ standing }: Holding): boolean {
  return standing === "held";
}

function isOverdue({ clock, since, duration }: Holding): boolean {
  return elapsed(clock, since) >= duration;
}

function isSure(holding: Holding): boolean {
  return isHeld(holding) && !isOverdue(holding);
}

async function lost({ journal }: Holding): Promise<MigrateError> {
  return new MigrateError("ERR_LEASE_LOST", { by: (await failing(() => journal.head()))?.by ?? "another run" });
}

/** Leaves the lease as lost if another run has the epoch, or a newer one. */
async function takeEpoch(holding: Holding): Promise<void> {
  const { journal, clock, duration, next } = holding;
  const started = now(clock);
  const record = holding.chain.begin({ event: "taken", next, lease: duration });
  if (!(await take(journal, record))) return;
  // The earlier read may lack records. Then all following records would refer to the wrong one.
  const ledger = await journal.read();
  // The engine lets a second writer win if it was suspended until others had cleaned up the versions in between.
  if (!ownersOf(record, ledger).every((run) => run === record.run)) return;
  // The holder of a newer epoch may have read fewer records, and records added here would refer to ones it lacks.
  if (ledger.some((other) => other.epoch > record.epoch)) return;
  const isFirst = holding.epoch === 0;
  beginEpoch(holding, record, ledger, started);
  if (!holding.isLengthStated) {
    await write(holding, [renewal(holding)]);
    Object.assign(holding, { ledger: await journal.read(), own: [] } satisfies Partial<Holding>);
  }
  const { runner, epoch } = holding;
  if (holding.ledger.some((other) => other.epoch === epoch && other.number > 0 && other.run !== runner.run)) {
    const problem = "refuses a second create of the same name (another run has taken the lease with the same table)";
    if (isFirst)
      throw new MigrateError("ERR_TARGET_UNFIT", { what: `the service of the ledger ${journal.name}`, problem });
    // A run that was under way has lost its lease, and may have changed tables.
    holding.standing = "lost";
  }
  // Before the length of the lease was recorded, another run may have waited for less and taken the next epoch.
  if (holding.ledger.some((other) => other.epoch > record.epoch)) holding.standing = "lost";
}

function beginEpoch(holding: Holding, record: LedgerRecord, ledger: readonly LedgerRecord[], started: Moment): void {
  const { journal, clock, runner, onTheWay } = holding;
  // Older holders may add records until the epoch is taken.
  const before = ledger.filter((other) => other.epoch < record.epoch);
  const chain = recordChain(foldLedger(before), runner, clock, journal.hashOf);
  chain.began(record);
  Object.assign(holding, {
    standing: "held",
    epoch: record.epoch,
    chain,
    ledger,
    own: [],
    since: started,
    onTheWay: onTheWay && { ...onTheWay, isStated: false },
    isLengthStated: journal.hashOf(record) !== "",
  } satisfies Partial<Holding>);
}

function renewal({ next, duration }: Holding): LedgerEntry {
  return { event: "renewed", next, lease: duration };
}

async function renew(holding: Holding, more?: Pick<LedgerEntry, "detail">): Promise<void> {
  await write(holding, [{ ...renewal(holding), ...more }]);
  const { journal, epoch, isLengthStated } = holding;
  if (!isLengthStated && !(await journal.isNewest({ epoch, number: Infinity }))) holding.standing = "lost";
}

async function write(holding: Holding, entries: readonly LedgerEntry[]): Promise<void> {
  const { journal, clock, onTheWay } = holding;
  if (holding.standing === "lost") throw await lost(holding);
  const started = now(clock);
  const about = entries.findLast(({ version }) => version !== undefined);
  // The records of an epoch alone must show whether a migration is being rolled back.
  const isRepeated = about !== undefined && onTheWay?.isStated === false;
  await holding.chain.write(isRepeated ? [onTheWay.entry, ...entries] : entries, async (records) => {
    await journal.add(records);
    holding.own.push(...records);
  });
  // A record that came too late does not extend the lease: another run may already have found the ledger silent.
  if (!isOverdue(holding)) holding.since = started;
  holding.next = entries.at(-1)?.next;
  if (about === undefined) return;
  const isOnTheWay = about.event === "advanced" || about.event === "reverting";
  holding.onTheWay = isOnTheWay ? { entry: about, isStated: true } : undefined;
}

async function makeSure(holding: Holding): Promise<void> {
  const { clock, duration } = holding;
  if (holding.standing === "lost") throw await lost(holding);
  if (elapsed(clock, holding.since) < duration / 2) return;
  if (!isOverdue(holding)) await renew(holding);
  // This process slept too long to renew. It must take the next epoch itself, unless another run has. It requests
  // an epoch only once, so without an answer the lease is lost too.
  for (let tries = 0; isHeld(holding) && isOverdue(holding); tries++) {
    if (tries === mostTries) throw new MigrateError("ERR_LEASE_SHORT", { seconds: duration / 1000 });
    holding.standing = "lost";
    await failing(() => takeEpoch(holding));
  }
  if (!isHeld(holding)) throw await lost(holding);
}

/** The entries with the one that ends the epoch. A run that changed no table leaves what it found, except what its records have settled. */
function lastEntries(
  { ledger, own }: Holding,
  entries: readonly LedgerEntry[],
  next: number | undefined,
): readonly LedgerEntry[] {
  const stopped = entries.findLast(({ event }) => event === "failed" || event === "interrupted");
  const found = entries.length === 0 ? foldLedger([...ledger, ...own]) : undefined;
  const half = [...(found?.migrations.values() ?? [])].find(isHalfDone);
  const left = stopped ?? half?.reversal ?? half;
  const inDoubt = next ?? [...(found?.inDoubt ?? [])][0];
  const stays = left !== undefined && (half !== undefined || left.step !== 0 || left.midway !== undefined);
  const released = { event: "released", ...(stays ? { step: left.step, total: left.total } : {}) } as const;
  // Each entry has `next`: if entries are written one by one, the last may be missing.
  return [...entries, released].map((entry) => ({ ...entry, next: inDoubt }));
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
