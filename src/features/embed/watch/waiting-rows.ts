/** Computes the rows of watched columns that applications have left without a right value. */
import type { WatchedColumn } from "../../../run/stale-text.ts";
import { isMigrateError, type MigrateError } from "../../../errors/migrate-error.ts";
import type { Lease } from "../../../ledger/lease/lease.ts";
import type { LedgerState } from "../../../ledger/state/ledger-state.ts";
import type { WaitingRows } from "../../../run/computed.ts";
import type { Emit } from "../../../run/events.ts";
import { isHeld } from "../../../run/execute/migration-progress.ts";
import { withExecutors } from "../../../run/executors.ts";
import { computingOf, type ExecutorContext, type RunContext } from "../../../run/run-context.ts";
import { staleCount, watchedWords, type StaleColumn } from "../../../run/stale-text.ts";
import { stagingsOf } from "../compute/staging-name.ts";
import { findStale, findWatched, watchedElsewhere } from "./find-stale.ts";

/** `hasRun`: whether this run has applied migrations. Then rows for which the code has just failed are not computed again. */
export async function waitingRows(context: RunContext, state: LedgerState, hasRun: boolean): Promise<WaitingRows> {
  const { target } = context;
  const watched = await findWatched(context, state);
  // Of these, only another release knows how they are computed.
  const elsewhere = await watchedElsewhere(context, state, watched);
  const stale = await findStale(watched, target);
  const merged = await findMerged(watched, stale, context);
  return {
    names: [...watched.map(watchedWords), ...elsewhere],
    mayHelp: stale.some((one) => mayCompute(one, hasRun)) || merged.length > 0,
    unknown: stale.flatMap(({ column, problem }) =>
      problem === undefined ? [] : [{ event: "notComputed", ...columnRef(column), rows: undefined, problem }],
    ),
    async compute(lease) {
      let limit: MigrateError | undefined;
      for (const one of stale)
        if (mayCompute(one, hasRun)) limit ??= await computeStale(one, lease, { ...context, keepsFailed: hasRun });
      return limit;
    },
    async dropMerged() {
      for (const table of merged) await target.rows?.drop(table);
    },
  };
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
  const executors = await (await computingOf(context)).executors();
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
