/** Work that changes no table and writes to the ledger: it waits its turn as a run does. */
import { isMigrateError } from "../errors.ts";
import { systemClock } from "../clock.ts";
import { foldLedger, type LedgerState } from "../ledger/fold.ts";
import { journalOf } from "../ledger/journals.ts";
import { takeLease, type Lease } from "../ledger/lease.ts";
import type { LedgerRecord } from "../ledger/record.ts";
import type { MigratorOptions } from "./migrator.ts";
import { throwIfInterrupted, waitingFor } from "./waiting.ts";

export interface Held {
  readonly lease: Lease;
  /** The ledger as it was read when the lease was ours. */
  readonly records: readonly LedgerRecord[];
  readonly state: LedgerState;
}

/** Takes the lease, and releases it when the work has not. Throws ERR_LEASE_HELD. */
export async function underLease<Result>(
  options: MigratorOptions & Required<Pick<MigratorOptions, "runner">>,
  work: (held: Held) => Promise<Result>,
): Promise<Result> {
  const { signal, runner, clock = systemClock } = options;
  const journal = journalOf(options.target, options.ledger, options.clock);
  const waiting = waitingFor(journal, options);
  let lease: Lease | undefined;
  try {
    for (;;) {
      throwIfInterrupted(signal);
      const records = await journal.read();
      const state = foldLedger(records);
      if (lease !== undefined && state.holder?.run === runner.run) {
        const result = await work({ lease, records, state });
        await lease.release();
        return result;
      }
      lease?.abandon();
      lease = undefined;
      if (waiting.isDue(state)) {
        await waiting.wait(state);
        continue;
      }
      // It changes no table, so nothing is in doubt should it die; what is in doubt already stays so.
      lease = await takeLease(journal, state, runner, undefined, { ...options.lease, clock });
    }
  } catch (error) {
    if (lease !== undefined && isMigrateError(error) && ["refused", "interrupted", "usage"].includes(error.outcome))
      await lease.release().catch(() => {});
    throw error;
  } finally {
    lease?.abandon();
  }
}
