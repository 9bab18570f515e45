/** The turn of a run that writes to the ledger: it waits until the lease is free, takes it, and looks again at everything. */
import { isMigrateError } from "../../errors/migrate-error.ts";
import { systemClock } from "../../time/clock.ts";
import { foldLedger, type LedgerState } from "../../ledger/state/fold.ts";
import type { Journal, LedgerHead } from "../../ledger/journal/journal.ts";
import { takeLease, type Lease } from "../../ledger/lease/lease.ts";
import { start, type LedgerRecord } from "../../ledger/state/record.ts";
import type { MigratorOptions } from "../options.ts";
import { throwIfInterrupted, waitingFor } from "./wait-for-lease.ts";

export interface LeasedWork<Result> {
  /** The result where nothing is to be done: for that nobody is waited for. */
  readonly settled?: (ledger: Ledger) => Promise<Result | undefined>;
  /** Which record of a holder ends the wait for it; only the end of its epoch does when absent. */
  readonly until?: (state: LedgerState) => ((seen: LedgerHead) => boolean) | undefined;
  /**
   * What is to be done to the ledger as it is now. It is asked before the lease is taken, so that what can't be done takes
   * none, and once more with it. Undefined when somebody has written to the ledger meanwhile.
   */
  readonly prepare: (ledger: Ledger) => Promise<Prepared<Result> | undefined>;
}

/** The ledger as it was read. */
export interface Ledger {
  readonly records: readonly LedgerRecord[];
  readonly state: LedgerState;
}

export interface Prepared<Result> {
  /** The migration to begin with: in doubt should this run die. */
  readonly first: number | undefined;
  act(lease: Lease): Promise<Result>;
}

/** Does the work as the holder, and releases the lease when the work has not. Throws ERR_LEASE_HELD, ERR_INTERRUPTED. */
export async function withLease<Result>(
  journal: Journal,
  options: MigratorOptions & Required<Pick<MigratorOptions, "runner">>,
  { settled, until, prepare }: LeasedWork<Result>,
): Promise<Result> {
  const { signal, runner, clock = systemClock, emit = () => {} } = options;
  const waiting = waitingFor(journal, options);
  let lease: Lease | undefined;
  let ledger: readonly LedgerRecord[] | undefined;
  try {
    for (;;) {
      throwIfInterrupted(signal);
      const records = ledger ?? (await journal.read());
      ledger = undefined;
      const state = foldLedger(records);
      if (state.holder?.run !== runner.run) {
        // Should we have been told that the epoch is ours: the ledger is what everyone else believes.
        lease?.abandon();
        lease = undefined;
      }
      const result = await settled?.({ records, state });
      if (result !== undefined) {
        await lease?.release();
        return result;
      }
      // Looking at tables beside a runner that is at work would take its half-done changes for drift.
      if (lease === undefined && waiting.isDue(state)) {
        await waiting.wait(state, until?.(state));
        continue;
      }
      const prepared = await prepare({ records, state });
      if (prepared === undefined) continue;
      if (lease !== undefined) {
        const done = await prepared.act(lease);
        await lease.release();
        return done;
      }
      // Preparing took its time: of many that start together most see here that somebody was quicker.
      if (!(await journal.isNewest(state.head ?? start))) continue;
      throwIfInterrupted(signal);
      emit({ event: "taking" });
      lease = await takeLease(journal, state, runner, prepared.first, { ...options.lease, clock });
      ledger = lease?.ledger;
    }
  } catch (error) {
    // What stops a run before its first action leaves nothing in doubt; later on the executor has said what does.
    if (lease !== undefined && isMigrateError(error) && ["refused", "interrupted", "usage"].includes(error.outcome))
      await lease.release().catch(() => {});
    throw error;
  } finally {
    lease?.abandon();
  }
}
