/** Finds the rows of watched columns whose values are missing or outdated. Changes nothing. */
import { count, isMigrateError } from "../../errors/migrate-error.ts";
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
import { staleRows, type StaleRow } from "../fill/stale-rows.ts";
import type { RunContext } from "../run-context.ts";

export interface StaleColumn {
  readonly column: WatchedColumn;
  /** How many rows of each kind there are. */
  readonly rows: Readonly<Record<StaleRow["why"], number>>;
  /** The keys of some of them. */
  readonly keys: readonly (number | string)[];
  /** Why they are unknown. */
  readonly problem?: string | undefined;
}

const mostKeys = 1_000;
/** How many of the keys are printed. */
const mostPrinted = 10;

/** How many rows lack a right value that the next run computes. */
export function staleCount({ rows: { missing, outdated } }: Pick<StaleColumn, "rows">): number {
  return missing + outdated;
}

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

/** What is wrong, and what to do about it. */
export function staleText(stale: StaleColumn): string {
  const { column, rows, keys, problem } = stale;
  const { table, path, keep, upTo } = column;
  if (problem !== undefined) return `it is unknown whether rows of ${table} lack a right value of ${path}: ${problem}`;
  const all = staleCount(stale) + rows.failed;
  const parts = [
    rows.missing > 0 ? [`${rows.missing} without a value`] : [],
    rows.outdated > 0 ? [`${rows.outdated} with the value of former ${column.from.join(", ")}`] : [],
    rows.failed > 0 ? [`${rows.failed} for which the code failed`] : [],
  ].flat();
  const shown = keys.slice(0, mostPrinted).map((key) => JSON.stringify(key));
  const which = `${column.key} ${shown.join(", ")}${all > shown.length ? ", …" : ""}`;
  const lacking = `${count(all, "row")} of ${table} ${all === 1 ? "lacks" : "lack"} a right ${path}: ${parts.join(", ")} (${which})`;
  return upTo === undefined
    ? `${lacking}; migrate up computes them. Rows are looked for until ${keep} is dropped`
    : `${lacking}; migrate up --to ${upTo} computes them. Rows are looked for until the new model is applied again`;
}

/** The same for JSON. */
export function staleDocument({ column, ...found }: StaleColumn) {
  const { table, path, keep, upTo } = column;
  return { table, path, ...(upTo === undefined ? { old: keep } : { upTo }), ...found };
}

/** A watched column in the record that states what waits (`deferralDetail`). */
export function watchedWords({ table, keep }: Pick<WatchedColumn, "keep" | "table">): string {
  return `${keep} of ${table}`;
}

/** The inverse of `watchedWords`: tables have no spaces in their names. */
function placeIn(words: string): Pick<WatchedColumn, "keep" | "table"> {
  const table = words.slice(words.lastIndexOf(" ") + 1);
  return { table, keep: words.slice(0, words.length - watchedWords({ table, keep: "" }).length) };
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
