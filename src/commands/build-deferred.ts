/** Builds the deferred indexes of tables that hold enough vectors now, and reports the others. */
import { isMigrateError } from "../errors/migrate-error.ts";
import { sameRecord, type LedgerHead } from "../ledger/journal/journal.ts";
import { migrationsBegun } from "../ledger/state/ledger-state.ts";
import type { Lease } from "../ledger/lease/lease.ts";
import { deferralDetail, saysDeferred } from "../ledger/state/record.ts";
import { isHeld } from "../run/execute/migration-progress.ts";
import { deferralOf, indexWords, type Deferral } from "../run/deferral-text.ts";
import { emitDeferred } from "../run/deferred/emit-deferred.ts";
import { failedBuild, failureWords, type FailedBuild } from "../run/deferred/failed-builds.ts";
import { findDeferred, reported, type FoundDeferral } from "../run/deferred/find-deferred.ts";
import { withLease } from "../run/lease/with-lease.ts";
import type { RunContext } from "../run/run-context.ts";
import { patience, retry } from "../targets/contract/retry.ts";

/**
 * Returns those that stay deferred. Takes the lease only if there is something to build or to record. If this run is
 * killed, the index is deferred or exists, and the ledger still states that some index is deferred: the next run looks
 * again. An interruption is no error: what was asked for is done.
 */
export async function buildDeferred(context: RunContext): Promise<readonly Deferral[]> {
  const { runner, emit } = context;
  let all: Awaited<ReturnType<typeof findDeferred>> = { found: [], unread: [] };
  let stated: string | undefined;
  let first: LedgerHead | undefined;
  const building = withLease<readonly Deferral[]>(context, {
    async resultIfDone({ state }) {
      const { deferral, head, holder } = state;
      stated = deferral;
      if (saysDeferred(deferral) !== true || migrationsBegun(state, runner.run).length > 0) return [];
      all = await findDeferred(context, state);
      const isEmpty = all.found.length + all.unread.length === 0;
      if (!isEmpty && !all.found.some((one) => mayBuild(one, deferral))) return reported(all);
      // The holder may be dead. If one more record shows that it is not, its indexes are left to the next run.
      first ??= head;
      const isAlive = holder !== undefined && holder.run !== runner.run && !sameRecord(first, head);
      return isAlive ? reported(all) : undefined;
    },
    until: () => () => true,
    prepare: async () => ({ first: undefined, act: (lease) => buildAll(all, stated, lease, context) }),
  });
  const left = await building.catch((error: unknown) => {
    if (isMigrateError(error, "ERR_INTERRUPTED") || isMigrateError(error, "ERR_LEASE_HELD")) return reported(all);
    throw error;
  });
  emitDeferred(left, emit);
  return left;
}

/** Whether there are enough vectors, and the engine has not refused the index for the table as it is. */
function mayBuild({ table, name, vectors, needed, version }: FoundDeferral, stated: string | undefined): boolean {
  const refused = failedBuild({ table, index: name }, stated)?.version;
  return vectors >= needed && (refused === undefined || refused !== version);
}

async function buildAll(
  { found, unread }: Awaited<ReturnType<typeof findDeferred>>,
  stated: string | undefined,
  lease: Lease,
  context: RunContext,
): Promise<readonly Deferral[]> {
  const left: Deferral[] = [...unread];
  const failures: FailedBuild[] = [];
  for (const one of found) {
    const index = { table: one.table, index: one.name };
    // The others stay deferred.
    const isTried = context.signal?.aborted !== true && mayBuild(one, stated);
    const failure = isTried ? await build(one, lease, context) : failedBuild(index, stated);
    if (isTried && failure === undefined) continue;
    if (failure !== undefined) failures.push(failure);
    left.push(deferralOf({ ...one, problem: isTried ? failure?.problem : one.problem }));
  }
  const detail = deferralDetail(left.map(indexWords), failures.map(failureWords));
  await lease.release(detail === stated ? [] : [{ event: "renewed", detail }]);
  return left;
}

/** Why the index is still deferred; undefined if it is not. */
async function build(
  { table, name, index }: FoundDeferral,
  lease: Lease,
  context: RunContext,
): Promise<FailedBuild | undefined> {
  const { target, clock, emit } = context;
  const started = clock.steady();
  let version: number | undefined;
  const work = async () => {
    await lease.check();
    const seen = await target.describeTable(table, true);
    version = seen?.version;
    // An application may have dropped the column, or created the index itself.
    if (seen?.table.deferred?.includes(name) !== true) return;
    await target.execute({ kind: "createIndex", table, name, index }, seen);
  };
  try {
    await retry(work, (error) => target.verdict(error), clock, patience.conflict);
  } catch (error) {
    if (isHeld(error) || isMigrateError(error, "ERR_INTERRUPTED")) throw error;
    const isRefused = target.verdict(error).kind === "refused";
    return { table, index: name, problem: target.explain(error), version: isRefused ? version : undefined };
  }
  emit({ event: "indexed", table, index: name, duration: Math.round(clock.steady() - started) });
  return undefined;
}
