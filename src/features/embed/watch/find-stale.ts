/** Finds the rows of watched columns whose values are missing or outdated. Changes nothing. */
import { isMigrateError } from "../../../errors/migrate-error.ts";
import type { LedgerState } from "../../../ledger/state/ledger-state.ts";
import { partsOfDeferral, saysDeferred } from "../../../ledger/state/record.ts";
import { loadMigrations } from "../../../migrations/source.ts";
import { keptMark } from "../../../actions/rewrite/prepared-columns.ts";
import type { Action } from "../../../actions/model/action.ts";
import { formatVersion } from "../../../migrations/file-name.ts";
import type { Migration } from "../../../migrations/load.ts";
import { columnsPutBack, watchedColumns } from "./watched-columns.ts";
import type { WatchedColumn } from "../../../run/stale-text.ts";
import { compileMigration } from "../../../plan/compile/compile.ts";
import { historyOrder } from "../../../plan/history/replay.ts";
import { withStepsThatRan } from "../../../plan/history/renumbered.ts";
import { parsePath } from "../../../schema/path.ts";
import type { Target } from "../../../targets/contract/target.ts";
import { areItsMarks, staleRows } from "../fill/stale-rows.ts";
import type { RunContext } from "../../../run/run-context.ts";
import { placeIn, watchedWords, type StaleColumn } from "../../../run/stale-text.ts";

const mostKeys = 1_000;

/** The columns that migrations have switched, or their rollbacks have switched back, and whose marks are still there. */
export async function findWatched(context: RunContext, state: LedgerState): Promise<readonly WatchedColumn[]> {
  const { migrations: source, target } = context;
  const files = source.list().filter(({ version }) => state.migrations.get(version)?.status === "applied");
  const migrations = withStepsThatRan(await loadMigrations(source, files), state);
  const watched = watchedColumns(actionsOf(historyOrder(migrations, state), target));
  const putBack = await findPutBack(context, state);
  // The marks of the rollback are of all rows, and those from before it lack the rows that were added meanwhile.
  const isPutBack = ({ table, path }: WatchedColumn) => putBack.some((one) => one.table === table && one.path === path);
  const found = [...watched.filter((one) => !isPutBack(one)), ...putBack];
  return (await Promise.all(found.map(async (one) => ((await hasMarks(one, target)) ? [one] : [])))).flat();
}

/** Those that a rollback has put back, unless their step was changed since. */
async function findPutBack(context: RunContext, state: LedgerState): Promise<readonly WatchedColumn[]> {
  const { rows } = context.target;
  const isOfStep = async ({ table, ...column }: WatchedColumn) => {
    try {
      const columns = (await rows?.columns(table)) ?? [];
      return (
        rows !== undefined && (await areItsMarks({ ...column, table, mark: keptMark(column.keep) }, columns, rows))
      );
    } catch (error) {
      if (isMigrateError(error, "ERR_INTERRUPTED")) throw error;
      // What is unknown is reported.
      return true;
    }
  };
  const found = await findSwitchedBack(context, state);
  return (await Promise.all(found.map(async (one) => ((await isOfStep(one)) ? [one] : [])))).flat();
}

/** Those that pending migrations would switch, and that a rollback may have put back. */
export async function findSwitchedBack(
  { migrations: source, target }: RunContext,
  { migrations: known }: LedgerState,
): Promise<readonly WatchedColumn[]> {
  const files = source.list();
  const pending = files.filter(({ version }) => known.get(version) === undefined);
  const upTo = files.findLast(({ version }) => known.get(version)?.status === "applied");
  if (upTo === undefined) return [];
  try {
    const actions = actionsOf(await loadMigrations(source, pending), target);
    return columnsPutBack(actions, formatVersion(upTo.version));
  } catch (error) {
    // The command that runs a pending migration reports what is wrong with its file.
    if (!isMigrateError(error) || isMigrateError(error, "ERR_INTERRUPTED")) throw error;
    return [];
  }
}

function actionsOf(migrations: readonly Migration[], { capabilities }: Target): readonly Action[] {
  return migrations.flatMap((one) => compileMigration(one, capabilities)).map(({ action }) => action);
}

/** Whether the marks of a column are there. A table that can't be read may have them. */
async function hasMarks({ table, keep }: Pick<WatchedColumn, "keep" | "table">, { rows }: Target): Promise<boolean> {
  try {
    const columns = (await rows?.columns(table)) ?? [];
    return columns.some(({ name }) => name === keptMark(keep));
  } catch (error) {
    if (isMigrateError(error, "ERR_INTERRUPTED")) throw error;
    return true;
  }
}

/**
 * Watched columns that the ledger states, whose marks are there, and of which this release does not know how they are
 * computed: it may lack the files of their migrations, or have others. Another release still watches them.
 */
export async function watchedElsewhere(
  { target }: RunContext,
  { deferral = "" }: LedgerState,
  watched: readonly WatchedColumn[],
): Promise<readonly string[]> {
  const own = new Set(watched.map(watchedWords));
  const others = partsOfDeferral(deferral).indexes.filter((words) => !own.has(watchedWords(placeIn(words))));
  const found = await Promise.all(
    others.map(async (words) => ((await hasMarks(placeIn(words), target)) ? [words] : [])),
  );
  return found.flat();
}

/** Those that a ledger states, with such rows; otherwise, no table is looked at. */
export async function listStale(context: RunContext, state: LedgerState): Promise<readonly StaleColumn[]> {
  if (saysDeferred(state.deferral) !== true) return [];
  return await findStale(await findWatched(context, state), context.target);
}

/** Those of the columns that have such rows, or of which that is unknown. */
export async function findStale(columns: readonly WatchedColumn[], target: Target): Promise<readonly StaleColumn[]> {
  const stale: StaleColumn[] = [];
  for (const column of columns) {
    const found = await look(column, target);
    if (found.problem !== undefined || Object.values(found.rows).some((rows) => rows > 0)) stale.push(found);
  }
  return stale;
}

async function look(column: WatchedColumn, target: Target): Promise<StaleColumn> {
  const rows = { missing: 0, outdated: 0, failed: 0 };
  const keys: (number | string)[] = [];
  // A row for which a rollback has failed keeps the value that it had.
  const action = { ...column, mark: keptMark(column.keep), keepsFailed: column.upTo !== undefined };
  try {
    const columns = (await target.rows!.columns(column.table)) ?? [];
    const gone = [column.key, ...column.from, parsePath(column.path)[0]!].find(
      (name) => !columns.some((one) => one.name === name),
    );
    const lost = column.lost ?? gone;
    if (lost !== undefined)
      return { column, rows, keys, problem: `the column ${lost} of ${column.table} was renamed or dropped` };
    for await (const batch of staleRows(action, columns, target.rows!))
      for (const { key, why } of batch) {
        rows[why]++;
        if (keys.length < mostKeys) keys.push(typeof key === "number" ? key : String(key));
      }
    return { column, rows, keys };
  } catch (error) {
    if (isMigrateError(error, "ERR_INTERRUPTED")) throw error;
    return { column, rows, keys, problem: target.explain(error) };
  }
}
