/** Finds the rows of watched columns whose values are missing or outdated. Changes nothing. */
import { isMigrateError } from "../../errors/migrate-error.ts";
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import { partsOfDeferral, saysDeferred } from "../../ledger/state/record.ts";
import { loadMigrations } from "../../migrations/source.ts";
import { keptMark } from "../../actions/rewrite/prepared-columns.ts";
import type { Action } from "../../actions/model/action.ts";
import { isComputed } from "../../actions/rewrite/source-marks.ts";
import { formatVersion } from "../../migrations/file-name.ts";
import type { Migration } from "../../migrations/load.ts";
import { sqlPath } from "../../schema/sql.ts";
import { columnsPutBack, watchedColumns, type WatchedColumn } from "../../actions/watched-columns.ts";
import { compileMigration } from "../../plan/compile/compile.ts";
import { inOrder } from "../../plan/history/replay.ts";
import { withStepsThatRan } from "../../plan/history/renumbered.ts";
import { parsePath } from "../../schema/path.ts";
import type { Target } from "../../targets/contract/target.ts";
import { staleRows } from "../fill/stale-rows.ts";
import type { RunContext } from "../run-context.ts";
import { placeIn, watchedWords, type StaleColumn } from "./stale-text.ts";

const mostKeys = 1_000;

/** The columns that migrations have switched, or their rollbacks have switched back, and whose marks are still there. */
export async function findWatched(context: RunContext, state: LedgerState): Promise<readonly WatchedColumn[]> {
  const { migrations: source, target } = context;
  const files = source.list().filter(({ version }) => state.migrations.get(version)?.status === "applied");
  const migrations = withStepsThatRan(await loadMigrations(source, files), state);
  const watched = watchedColumns(actionsOf(inOrder(migrations, state), target));
  const found = [...watched, ...(await findPutBack(context, state))];
  return (await Promise.all(found.map(async (one) => ((await hasMarks(one, target)) ? [one] : [])))).flat();
}

/** Those that a rollback has put back, unless their step was changed since. */
async function findPutBack(
  { migrations: source, target }: RunContext,
  { migrations: known }: LedgerState,
): Promise<readonly WatchedColumn[]> {
  const files = source.list();
  const pending = files.filter(({ version }) => known.get(version) === undefined);
  const upTo = files.findLast(({ version }) => known.get(version)?.status === "applied");
  if (upTo === undefined) return [];
  try {
    const actions = actionsOf(await loadMigrations(source, pending), target);
    const putBack = columnsPutBack(actions, formatVersion(upTo.version));
    return (await Promise.all(putBack.map(async (one) => ((await isMarked(one, target)) ? [one] : [])))).flat();
  } catch (error) {
    // The command that runs a pending migration reports what is wrong with its file.
    if (!isMigrateError(error) || isMigrateError(error, "ERR_INTERRUPTED")) throw error;
    return [];
  }
}

function actionsOf(migrations: readonly Migration[], { capabilities }: Target): readonly Action[] {
  return migrations.flatMap((one) => compileMigration(one, capabilities)).map(({ action }) => action);
}

/** Whether a row has a mark of this computation: with another one, all rows would look outdated. */
async function isMarked(column: WatchedColumn, target: Target): Promise<boolean> {
  if (!(await hasMarks(column, target))) return false;
  const mark = keptMark(column.keep);
  const where = isComputed({ ...column, mark });
  return (
    ((await target.rows?.read(column.table, { select: [["mark", sqlPath([mark])]], where, limit: 1 })) ?? []).length > 0
  );
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
 * Watched columns that the ledger states, if this release lacks files of applied migrations, which may be those that have
 * switched these columns: another release still watches them.
 */
export async function watchedElsewhere(
  { migrations, target }: RunContext,
  { migrations: known, deferral = "" }: LedgerState,
  watched: readonly WatchedColumn[],
): Promise<readonly string[]> {
  const files = new Set(migrations.list().map(({ version }) => version));
  if ([...known].every(([version, { status }]) => status !== "applied" || files.has(version))) return [];
  const own = new Set(watched.map(watchedWords));
  const others = partsOfDeferral(deferral).indexes.filter((words) => !own.has(words));
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
  const action = { ...column, mark: keptMark(column.keep) };
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
