/**
 * Does what waits after the migrations: builds the deferred indexes of tables that hold enough vectors now, and computes
 * the rows of watched columns that applications have left without a right value. Reports what is left.
 */
import { isMigrateError, type MigrateError } from "../errors/migrate-error.ts";
import { sameRecord, type LedgerHead } from "../ledger/journal/journal.ts";
import { migrationsBegun } from "../ledger/state/ledger-state.ts";
import type { Lease } from "../ledger/lease/lease.ts";
import { deferralDetail, saysDeferred } from "../ledger/state/record.ts";
import { isHeld } from "../run/execute/migration-progress.ts";
import { deferralOf, indexWords, type Deferral } from "../run/deferral-text.ts";
import { emitDeferred } from "../run/deferred/emit-deferred.ts";
import { failedBuild, failureWords, type FailedBuild } from "../run/deferred/failed-builds.ts";
import { findDeferred, reported, type FoundDeferral } from "../run/deferred/find-deferred.ts";
import { noRows, type WaitingRows } from "../run/computed.ts";
import { withExecutors } from "../run/executors.ts";
import { computingOf, type RunContext } from "../run/run-context.ts";
import { withLease } from "../run/lease/with-lease.ts";
import { patience, retry } from "../targets/contract/retry.ts";

interface WaitingWork {
  readonly deferred: Awaited<ReturnType<typeof findDeferred>>;
  readonly rows: WaitingRows;
}

export interface Settled {
  /** The indexes that stay deferred. */
  readonly left: readonly Deferral[];
  /** If a limit of calls was reached before all rows were computed. */
  readonly limit?: MigrateError | undefined;
}

/**
 * Takes the lease only if there is something to do or to record. If this run is killed, the index is deferred or exists, and
 * the ledger still states that something waits: the next run looks again. An interruption is no error: what was asked for is
 * done. `hasRun`: whether this run has applied migrations. Then rows for which the code has just failed are not
 * computed again.
 */
export async function settle(context: RunContext, hasRun: boolean): Promise<Settled> {
  const { runner, emit } = context;
  let waiting: WaitingWork = { deferred: { found: [], unread: [] }, rows: noRows };
  let stated: string | undefined;
  let first: LedgerHead | undefined;
  const settling = withLease<Settled>(context, {
    async resultIfDone({ state }) {
      const { deferral, head, holder } = state;
      stated = deferral;
      if (saysDeferred(deferral) !== true || migrationsBegun(state, runner.run).length > 0) return { left: [] };
      const deferred = await findDeferred(context, state);
      const { waitingRows } = await computingOf(context);
      const rows = await waitingRows(context, state, hasRun);
      waiting = { deferred, rows };
      const isEmpty = [deferred.found, deferred.unread, rows.names].every(({ length }) => length === 0);
      const mayHelp = rows.mayHelp || deferred.found.some((one) => mayBuild(one, deferral));
      if (!isEmpty && !mayHelp) return { left: reported(deferred) };
      // The holder may be dead. If one more record shows that it is not, what waits is left to the next run.
      first ??= head;
      const isAlive = holder !== undefined && holder.run !== runner.run && !sameRecord(first, head);
      return isAlive ? { left: reported(deferred) } : undefined;
    },
    until: () => () => true,
    prepare: async () => ({ first: undefined, act: (lease) => settleAll(waiting, stated, lease, context) }),
  });
  const { left, limit } = await settling.catch((error: unknown): Settled => {
    if (isMigrateError(error, "ERR_INTERRUPTED") || isMigrateError(error, "ERR_LEASE_HELD"))
      return { left: reported(waiting.deferred) };
    throw error;
  });
  emitDeferred(left, emit);
  for (const event of waiting.rows.unknown) emit(event);
  return { left, limit };
}

async function settleAll(
  { deferred, rows }: WaitingWork,
  stated: string | undefined,
  lease: Lease,
  context: RunContext,
): Promise<Settled> {
  const { left, failures } = await buildAll(deferred, stated, lease, context);
  const limit = await rows.compute(lease);
  await lease.check();
  await rows.dropMerged();
  const names = [...left.map(indexWords), ...rows.names];
  const detail = deferralDetail([...new Set(names)], failures.map(failureWords));
  await lease.release(detail === stated ? [] : [{ event: "renewed", detail }]);
  return { left, limit };
}

/** Whether there are enough vectors, and the engine has not refused the index for the table as it is. */
function mayBuild({ table, name, vectors, needed, version }: FoundDeferral, stated: string | undefined): boolean {
  const refused = failedBuild({ table, index: name }, stated)?.version;
  return vectors >= needed && (refused === undefined || refused !== version);
}

async function buildAll(
  { found, unread }: WaitingWork["deferred"],
  stated: string | undefined,
  lease: Lease,
  context: RunContext,
): Promise<{ readonly left: readonly Deferral[]; readonly failures: readonly FailedBuild[] }> {
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
  return { left, failures };
}

/** Why the index is still deferred; undefined if it is not. */
async function build(
  { table, name, index }: FoundDeferral,
  lease: Lease,
  context: RunContext,
): Promise<FailedBuild | undefined> {
  const { clock, emit } = context;
  const executors = await (await computingOf(context)).executors();
  const target = withExecutors(context.target, executors, { ...context, mayWrite: () => lease.check() });
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
