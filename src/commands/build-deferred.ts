/** Builds the deferred indexes of tables that hold enough vectors now, and reports the others. */
import { isMigrateError } from "../errors/migrate-error.ts";
import { migrationsBegun } from "../ledger/state/fold.ts";
import type { Lease } from "../ledger/lease/lease.ts";
import { deferralDetail } from "../ledger/state/record.ts";
import { isHeld } from "../run/execute/migration-progress.ts";
import { deferralOf, indexWords, type Deferral } from "../run/deferral-text.ts";
import { findDeferred } from "../run/deferred/find-deferred.ts";
import { throwIfInterrupted } from "../run/lease/wait-for-lease.ts";
import { withLease } from "../run/lease/with-lease.ts";
import type { RunContext } from "../run/run-context.ts";
import type { DeferredIndex } from "../schema/deferred-index.ts";
import { patience, retry } from "../targets/contract/retry.ts";

/**
 * Returns those that stay deferred. Takes the lease only if there is something to build or to record. If this run is killed, the index is deferred or
 * exists, and the ledger still states that some index is deferred: the next run looks again.
 */
export async function buildDeferred(context: RunContext): Promise<readonly Deferral[]> {
  let found: readonly DeferredIndex[] = [];
  const left = await withLease(context, {
    async resultIfDone({ state }) {
      if (state.deferral === undefined || migrationsBegun(state, context.runner.run).length > 0) return [];
      found = await findDeferred(context);
      return found.length === 0 || found.some(isReady) ? undefined : found.map(deferralOf);
    },
    prepare: async () => ({ first: undefined, act: (lease) => buildAll(found, lease, context) }),
  });
  for (const one of left) context.emit({ event: "deferred", ...one });
  return left;
}

function isReady({ vectors, needed }: DeferredIndex): boolean {
  return vectors >= needed;
}

async function buildAll(
  found: readonly DeferredIndex[],
  lease: Lease,
  context: RunContext,
): Promise<readonly Deferral[]> {
  const left: Deferral[] = [];
  for (const one of found) {
    throwIfInterrupted(context.signal);
    if (!isReady(one) || !(await build(one, lease, context))) left.push(deferralOf(one));
  }
  const detail = deferralDetail(left.map(indexWords));
  await lease.release([{ event: "renewed", detail }]);
  return left;
}

/** Whether the index is not deferred any more. */
async function build({ table, name, index }: DeferredIndex, lease: Lease, context: RunContext): Promise<boolean> {
  const { target, clock, emit } = context;
  const started = clock.steady();
  const work = async () => {
    await lease.check();
    const seen = await target.describeTable(table, true);
    // An application may have dropped the column, or created the index itself.
    if (seen?.table.deferred?.includes(name) !== true) return;
    await target.execute({ kind: "createIndex", table, name, index }, seen);
  };
  try {
    await retry(work, (error) => target.verdict(error), clock, patience.conflict);
  } catch (error) {
    if (isHeld(error) || isMigrateError(error, "ERR_INTERRUPTED")) throw error;
    emit({ event: "notIndexed", table, index: name, problem: target.explain(error) });
    return false;
  }
  emit({ event: "indexed", table, index: name, duration: Math.round(clock.steady() - started) });
  return true;
}
