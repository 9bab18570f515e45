/**
 * Does what waits after the migrations: builds the deferred indexes of tables that hold enough vectors now, and computes
 * the rows of watched columns that applications have left without a right value. Reports what is left.
 */
import { isMigrateError, type MigrateError } from "../errors/migrate-error.ts";
import { sameRecord, type LedgerHead } from "../ledger/journal/journal.ts";
import { migrationsBegun } from "../ledger/state/ledger-state.ts";
import type { WatchedColumn } from "../actions/watched-columns.ts";
import type { Lease } from "../ledger/lease/lease.ts";
import { deferralDetail, saysDeferred } from "../ledger/state/record.ts";
import { isHeld } from "../run/execute/migration-progress.ts";
import { deferralOf, indexWords, type Deferral } from "../run/deferral-text.ts";
import { emitDeferred } from "../run/deferred/emit-deferred.ts";
import { failedBuild, failureWords, type FailedBuild } from "../run/deferred/failed-builds.ts";
import { findDeferred, reported, type FoundDeferral } from "../run/deferred/find-deferred.ts";
import { stagingsOf } from "../run/compute/staging-name.ts";
import type { Emit } from "../run/events.ts";
import { withExecutors } from "../run/executors.ts";
import { computingOf, type ExecutorContext, type RunContext } from "../run/run-context.ts";
import { withLease } from "../run/lease/with-lease.ts";
import { findStale, findWatched, watchedElsewhere } from "../run/watch/find-stale.ts";
import { staleCount, watchedWords, type StaleColumn } from "../run/watch/stale-text.ts";
import { patience, retry } from "../targets/contract/retry.ts";

interface Waiting {
  readonly deferred: Awaited<ReturnType<typeof findDeferred>>;
  readonly watched: readonly WatchedColumn[];
  /** Watched columns of which only another release knows how they are computed. */
  readonly elsewhere: readonly string[];
  readonly stale: readonly StaleColumn[];
  /** Tables of computed values that a killed run has left after it had merged them. */
  readonly merged: readonly string[];
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
  const { runner, emit, target } = context;
  let waiting: Waiting = { deferred: { found: [], unread: [] }, watched: [], elsewhere: [], stale: [], merged: [] };
  let stated: string | undefined;
  let first: LedgerHead | undefined;
  const settling = withLease<Settled>(context, {
    async resultIfDone({ state }) {
      const { deferral, head, holder } = state;
      stated = deferral;
      if (saysDeferred(deferral) !== true || migrationsBegun(state, runner.run).length > 0) return { left: [] };
      const deferred = await findDeferred(context, state);
      const watched = await findWatched(context, state);
      const elsewhere = await watchedElsewhere(context, state, watched);
      const stale = await findStale(watched, target);
      const merged = await findMerged(watched, stale, context);
      waiting = { deferred, watched, elsewhere, stale, merged };
      const isEmpty = [deferred.found, deferred.unread, watched, elsewhere].every(({ length }) => length === 0);
      const mayHelp =
        deferred.found.some((one) => mayBuild(one, deferral)) ||
        stale.some((one) => mayCompute(one, hasRun)) ||
        merged.length > 0;
      if (!isEmpty && !mayHelp) return { left: reported(deferred) };
      // The holder may be dead. If one more record shows that it is not, what waits is left to the next run.
      first ??= head;
      const isAlive = holder !== undefined && holder.run !== runner.run && !sameRecord(first, head);
      return isAlive ? { left: reported(deferred) } : undefined;
    },
    until: () => () => true,
    prepare: async () => ({ first: undefined, act: (lease) => settleAll(waiting, stated, lease, context, hasRun) }),
  });
  const { left, limit } = await settling.catch((error: unknown): Settled => {
    if (isMigrateError(error, "ERR_INTERRUPTED") || isMigrateError(error, "ERR_LEASE_HELD"))
      return { left: reported(waiting.deferred) };
    throw error;
  });
  emitDeferred(left, emit);
  for (const { column, problem } of waiting.stale)
    if (problem !== undefined) emit({ event: "notComputed", ...columnRef(column), rows: undefined, problem });
  return { left, limit };
}

/** What is beside a column with stale rows is merged when these are computed. */
async function findMerged(
  watched: readonly WatchedColumn[],
  stale: readonly StaleColumn[],
  { target, ledger }: RunContext,
): Promise<readonly string[]> {
  const complete = watched.filter((one) => !stale.some(({ column }) => column === one));
  if (complete.length === 0) return [];
  const tables = await target.listTables();
  return complete.flatMap((one) => stagingsOf(tables, ledger, one));
}

async function settleAll(
  { deferred, watched, elsewhere, stale, merged }: Waiting,
  stated: string | undefined,
  lease: Lease,
  context: RunContext,
  hasRun: boolean,
): Promise<Settled> {
  const { left, failures } = await buildAll(deferred, stated, lease, context);
  let limit: MigrateError | undefined;
  for (const one of stale)
    if (mayCompute(one, hasRun)) limit ??= await computeStale(one, lease, { ...context, keepsFailed: hasRun });
  await lease.check();
  for (const table of merged) await context.target.rows?.drop(table);
  const names = [...left.map(indexWords), ...watched.map(watchedWords), ...elsewhere];
  const detail = deferralDetail([...new Set(names)], failures.map(failureWords));
  await lease.release(detail === stated ? [] : [{ event: "renewed", detail }]);
  return { left, limit };
}

function mayCompute(stale: StaleColumn, hasRun: boolean): boolean {
  return stale.problem === undefined && (staleCount(stale) > 0 || (!hasRun && stale.rows.failed > 0));
}

/**
 * The migration is applied, so what can't be computed now is reported, and is no error of the run. Returns the limit of
 * calls if it is reached.
 */
async function computeStale(
  stale: StaleColumn,
  lease: Lease,
  context: RunContext & Pick<ExecutorContext, "keepsFailed">,
): Promise<MigrateError | undefined> {
  const { target, emit } = context;
  const { column, rows } = stale;
  const mayWrite = async () => {
    if (!lease.isSure()) await lease.check();
  };
  const wanted = staleCount(stale) + (context.keepsFailed === true ? 0 : rows.failed);
  let left = 0;
  const watching: Emit = (event) => {
    if (event.event === "notComputed") left = event.rows ?? 0;
    emit(event);
  };
  const { executors } = await computingOf(context);
  const able = withExecutors(target, executors, { ...context, emit: watching, mayWrite });
  try {
    await able.execute(column, undefined);
    if (wanted > left) emit({ event: "caughtUp", ...columnRef(column), rows: wanted - left });
  } catch (error) {
    if (isHeld(error) || isMigrateError(error, "ERR_INTERRUPTED")) throw error;
    if (isMigrateError(error, "ERR_LIMIT_REACHED")) return error;
    const all = staleCount(stale) + rows.failed;
    emit({ event: "notComputed", ...columnRef(column), rows: all, problem: able.explain(error) });
  }
  return undefined;
}

function columnRef({ table, path }: WatchedColumn) {
  return { table, path };
}

/** Whether there are enough vectors, and the engine has not refused the index for the table as it is. */
function mayBuild({ table, name, vectors, needed, version }: FoundDeferral, stated: string | undefined): boolean {
  const refused = failedBuild({ table, index: name }, stated)?.version;
  return vectors >= needed && (refused === undefined || refused !== version);
}

async function buildAll(
  { found, unread }: Waiting["deferred"],
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
  const { executors } = await computingOf(context);
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
