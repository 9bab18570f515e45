import { journalOf } from "../../ledger/journal/open-journal.ts";
import type { Lease } from "../../ledger/lease/lease.ts";
import type { RunContext } from "../run-context.ts";
import { withLease } from "./with-lease.ts";

/** Acts under a lease that has a ledger of its own, so that the lease of migrations stays free. */
export async function underLease<Result>(
  ledger: string,
  context: RunContext,
  act: (lease: Lease) => Promise<Result>,
): Promise<Result> {
  const leased = { ...context, ledger, journal: journalOf(context.target, ledger, context.clock) };
  const releasing = async (lease: Lease) => {
    try {
      return await act(lease);
    } catch (error) {
      // No migration is in doubt, so the next run need not wait.
      await lease.release().catch(() => {});
      throw error;
    }
  };
  return await withLease(leased, { prepare: async () => ({ first: undefined, act: releasing }) });
}
