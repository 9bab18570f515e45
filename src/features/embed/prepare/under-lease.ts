import { journalOf } from "../../../ledger/journal/open-journal.ts";
import type { Lease } from "../../../ledger/lease/lease.ts";
import type { RunContext } from "../../../run/run-context.ts";
import { isGone, withProcess } from "./process-identity.ts";
import { withLease } from "../../../run/lease/with-lease.ts";

/**
 * Acts under a lease that has a ledger of its own, so that the lease of migrations stays free. The lease of a process of this
 * machine that is gone is taken over at once: what it protects may be done twice, so that a call of that process which comes
 * late does no harm.
 */
export async function underLease<Result>(
  ledger: string,
  context: RunContext,
  act: (lease: Lease) => Promise<Result>,
): Promise<Result> {
  const runner = { ...context.runner, run: withProcess(context.runner.run) };
  const leased = { ...context, runner, ledger, journal: journalOf(context.target, ledger, context.clock) };
  const releasing = async (lease: Lease) => {
    try {
      return await act(lease);
    } catch (error) {
      // No migration is in doubt, so the next run need not wait.
      await lease.release().catch(() => {});
      throw error;
    }
  };
  return await withLease(leased, { isGone, prepare: async () => ({ first: undefined, act: releasing }) });
}
