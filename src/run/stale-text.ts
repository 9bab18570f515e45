/** Watched columns and their rows without a right value, as they are reported. Pure. */
import { count } from "../errors/migrate-error.ts";
import { deferralDetail, partsOfDeferral } from "../ledger/state/record.ts";
import type { CatchUpColumnAction } from "../actions/model/action.ts";

export interface WatchedColumn extends CatchUpColumnAction {
  /** The key, or a column that values are computed from, that was renamed or dropped. Another column may have its name now. */
  readonly lost?: string | undefined;
  /** If a rollback has put it back: what `migrate up --to` takes to apply nothing. */
  readonly upTo?: string | undefined;
}

/** `failed`: the code failed for its present sources. */
export type StaleReason = "missing" | "outdated" | "failed";

export interface StaleColumn {
  readonly column: WatchedColumn;
  /** How many rows of each kind there are. */
  readonly rows: Readonly<Record<StaleReason, number>>;
  /** The keys of some of them. */
  readonly keys: readonly (number | string)[];
  /** Why they are unknown. */
  readonly problem?: string | undefined;
}

/** How many of the keys are printed. */
const mostPrinted = 10;

/** How many rows lack a right value that the next run computes. */
export function staleCount({ rows: { missing, outdated } }: Pick<StaleColumn, "rows">): number {
  return missing + outdated;
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

const watching = "watched until ";

/** A watched column in the record that states what waits (`deferralDetail`). */
export function watchedWords({ table, keep }: Pick<WatchedColumn, "keep" | "table">): string {
  return `${watching}${keep} of ${table}`;
}

/** The inverse of `watchedWords`: tables have no spaces in their names. */
export function placeIn(words: string): Pick<WatchedColumn, "keep" | "table"> {
  const table = words.slice(words.lastIndexOf(" ") + 1);
  // Older releases have recorded it like an index.
  const plain = words.startsWith(watching) ? words.slice(watching.length) : words;
  return { table, keep: plain.slice(0, -` of ${table}`.length) };
}

/** The watched columns that the detail of a record states. */
export function watchedIn(detail = ""): readonly string[] {
  return partsOfDeferral(detail).indexes.filter((words) => words.startsWith(watching));
}

/** What waits by the detail of a record, for people. */
export function waitingText(detail: string): string {
  const { indexes: names, failures } = partsOfDeferral(detail);
  const columns = watchedIn(detail);
  const indexes = names.filter((words) => !words.startsWith(watching));
  const deferred = indexes.length === 0 ? [] : [deferralDetail(indexes, failures)];
  return [...deferred, ...columns.map((words) => `${words} is dropped`)].join("; ");
}
