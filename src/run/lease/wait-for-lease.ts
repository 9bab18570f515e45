/** Waits for the holder of the lease, even if the lease passes from one run to another meanwhile. */
import { interruptedEarly } from "../../errors/migrate-error.ts";
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import { sameRecord, type LedgerHead } from "../../ledger/journal/journal.ts";
import { waitForHolder } from "../../ledger/lease/wait-for-holder.ts";
import { begunWords } from "./describe-holder.ts";
import type { RunContext } from "../run-context.ts";

interface LeaseWait {
  /**
   * Whether the lease is held and must be waited for. False once `wait` has found its holder silent for a whole lease.
   */
  isDue(state: LedgerState): boolean;
  /**
   * Call it only if `isDue`. Waits until the lease is free or may be taken over, or until `until` accepts a newest
   * record. Throws ERR_LEASE_HELD, ERR_INTERRUPTED.
   */
  wait(state: LedgerState, until?: (seen: LedgerHead) => boolean): Promise<void>;
}

export function waitingFor({ journal, lease, clock, runner, signal, emit }: RunContext): LeaseWait {
  let waited = 0;
  // The newest record of a ledger that was silent for so long that the lease may be taken over.
  let silentSince: LedgerHead | undefined;
  return {
    isDue: ({ holder, head }) => holder !== undefined && !sameRecord(silentSince, head),
    async wait(state, until) {
      const { by, lease: held = 0 } = state.holder!;
      emit({ event: "waiting", by, lease: Math.max(lease.duration, held) });
      const from = clock.steady();
      const patience = lease.patience - waited;
      try {
        silentSince = await waitForHolder(journal, state, {
          ...lease,
          patience,
          after: silentSince,
          until,
          clock,
          signal,
        });
      } catch (error) {
        throwIfInterrupted(signal, begunWords(state, runner.run));
        throw error;
      }
      waited += clock.steady() - from;
    },
  };
}

/** `begun`: what other runs have begun, if the ledger has been read. */
export function throwIfInterrupted(signal: AbortSignal | undefined, begun?: string): void {
  if (signal?.aborted === true) throw interruptedEarly(begun);
}
