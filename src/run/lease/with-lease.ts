/**
 * Runs work that writes to the ledger: prepares it, takes the lease once it is free, and prepares the work again before
 * doing it.
 */
import { isMigrateError } from "../../errors/migrate-error.ts";
import { foldLedger } from "../../ledger/state/fold.ts";
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import type { LedgerHead } from "../../ledger/journal/journal.ts";
import { takeLease, type Lease } from "../../ledger/lease/lease.ts";
import { start, type LedgerEntry, type LedgerRecord } from "../../ledger/state/record.ts";
import type { RunContext } from "../run-context.ts";
import { begunWords } from "./describe-holder.ts";
import { throwIfInterrupted, waitingFor } from "./wait-for-lease.ts";

export interface LeasedWork<Result> {
  /** The result if there is nothing to do; then the lease is not waited for. */
  readonly resultIfDone?: (ledger: Ledger) => Promise<Result | undefined>;
  /** Which newest record ends the wait for a holder early; if absent, none does before its epoch ends. */
  readonly until?: (state: LedgerState) => ((seen: LedgerHead) => boolean) | undefined;
  /** Whether the holder with this id of a run is known to be gone, so that its lease need not run out; never when absent. */
  readonly isGone?: (run: string) => boolean;
  /**
   * Prepares the work for the ledger as it was read. Called before the lease is taken, so that work that can't be done
   * takes no lease, and again under the lease. Undefined if another run has written to the ledger meanwhile.
   */
  readonly prepare: (ledger: Ledger) => Promise<PreparedWork<Result> | undefined>;
}

/** The ledger as it was read. */
export interface Ledger {
  readonly records: readonly LedgerRecord[];
  readonly state: LedgerState;
}

interface PreparedWork<Result> {
  /** The first migration of the work: it is in doubt if this run dies. */
  readonly first: number | undefined;
  act(lease: Lease): Promise<Result>;
}

/**
 * Work that only writes these records. No table is changed, so nothing new is in doubt if the run dies. `next`: the
 * migration that stays in doubt.
 */
export function recording<Result>(
  { signal }: Pick<RunContext, "signal">,
  { entries, next, result }: { entries: readonly LedgerEntry[]; next?: number | undefined; result: Result },
): PreparedWork<Result> {
  return {
    first: undefined,
    async act(lease) {
      throwIfInterrupted(signal);
      await lease.release(entries, next);
      return result;
    },
  };
}

/** Does the work, and releases the lease if the work has not. Throws ERR_LEASE_HELD, ERR_INTERRUPTED. */
export async function withLease<Result>(
  context: RunContext,
  { resultIfDone, until, isGone = () => false, prepare }: LeasedWork<Result>,
): Promise<Result> {
  const { journal, target, signal, runner, clock, emit } = context;
  const waiting = waitingFor(context);
  let lease: Lease | undefined;
  let ledger: readonly LedgerRecord[] | undefined;
  try {
    for (;;) {
      throwIfInterrupted(signal);
      const records = ledger ?? (await journal.read());
      ledger = undefined;
      const state = foldLedger(records);
      if (state.holder?.run !== runner.run) {
        // Another run may have taken the lease while this one was planning.
        lease?.abandon();
        lease = undefined;
      }
      const result = await resultIfDone?.({ records, state });
      if (result !== undefined) {
        await lease?.release();
        return result;
      }
      // If tables were described while another run is running, its half-done changes would look like drift.
      if (lease === undefined && waiting.isDue(state) && !isGone(state.holder!.run)) {
        await waiting.wait(state, until?.(state));
        continue;
      }
      const prepared = await prepare({ records, state });
      if (prepared === undefined) continue;
      if (lease !== undefined) {
        // Preparing takes time, and the first record must not come after another run has taken over.
        await lease.check();
        const done = await prepared.act(lease);
        await lease.release();
        return done;
      }
      // Preparing takes time. Of many runs that start together, most find here that another one was faster.
      if (!(await journal.isNewest(state.head ?? start))) continue;
      throwIfInterrupted(signal, begunWords(state, runner.run));
      if (state.head === undefined && target.isUnproven === true) {
        const { requireFit } = await import("../check/check-target.ts");
        await requireFit(target, context.ledger, clock);
      }
      // Its holder is silent or gone, or this run would still wait.
      if (state.holder !== undefined)
        emit({ event: "takenOver", by: state.holder.by, ...(isGone(state.holder.run) && { isGone: true }) });
      emit({ event: "taking" });
      lease = await takeLease(journal, state, runner, prepared.first, { ...context.lease, clock });
      ledger = lease?.ledger;
    }
  } catch (error) {
    // An error before the first action leaves nothing in doubt. Later, the executor has already recorded what does.
    if (lease !== undefined && isMigrateError(error) && ["refused", "interrupted", "usage"].includes(error.outcome))
      await lease.release().catch(() => {});
    throw error;
  } finally {
    lease?.abandon();
  }
}
