/** Finds the rows of a column in use whose value is missing, or that of former sources. */
import type { FillColumnAction } from "../../../actions/model/action.ts";
import { failedMark, markIn, markName, markSql, nullMark } from "../../../actions/rewrite/source-marks.ts";
import { computedCondition, printSql } from "../calls/mark-conditions.ts";
import type { Column } from "../../../schema/data-type.ts";
import { parsePath } from "../../../schema/path.ts";
import type { RowValue, RowValues } from "../../../schema/row-values.ts";
import { sqlPath } from "../../../schema/sql.ts";
import { requireColumn } from "../../../schema/table.ts";
import type { StaleReason } from "../../../run/stale-text.ts";
import type { RowAccess } from "../../../targets/contract/row-access.ts";
import type { FillContext } from "../compute/fill-context.ts";
import { isValueOf } from "../compute/value-mark.ts";
import { requireUnique } from "../compute/found-rows.ts";

export interface StaleRow {
  readonly key: RowValue;
  readonly why: StaleReason;
}

type Watched = Omit<FillColumnAction, "kind">;

/** How many keys are in memory. */
const mostFound = 100_000;

/** The keys of stale rows, a page at a time. When all were given, they are looked for again: others write meanwhile. */
export class StaleKeys {
  readonly #action: FillColumnAction;
  readonly #columns: readonly Column[];
  readonly #context: Pick<FillContext, "keepsFailed" | "rows">;
  #left: readonly RowValues[] = [];
  /** Rows whose code failed before are computed again once. */
  #retries: boolean;

  constructor(
    action: FillColumnAction,
    columns: readonly Column[],
    context: Pick<FillContext, "keepsFailed" | "rows">,
  ) {
    this.#action = action;
    this.#columns = columns;
    this.#context = context;
    this.#retries = context.keepsFailed !== true;
  }

  /** Rows with the key alone; none if no row is stale. */
  async next(limit: number): Promise<readonly RowValues[]> {
    if (this.#left.length === 0) this.#left = await this.#find();
    const page = this.#left.slice(0, limit);
    this.#left = this.#left.slice(limit);
    requireUnique(page, this.#action);
    return page;
  }

  async #find(): Promise<readonly RowValues[]> {
    const found: RowValues[] = [];
    const retries = this.#retries;
    this.#retries = false;
    for await (const batch of staleRows(this.#action, this.#columns, this.#context.rows)) {
      for (const { key, why } of batch) if (why !== "failed" || retries) found.push({ [this.#action.key]: key });
      if (found.length >= mostFound) break;
    }
    return found;
  }

  async count(): Promise<number> {
    let sum = 0;
    for await (const batch of staleRows(this.#action, this.#columns, this.#context.rows))
      sum += batch.filter(({ why }) => why !== "failed").length;
    return sum;
  }
}

/** An SQL predicate for the rows that may be such rows. Does not read their values. */
export function mayBeStale(action: Watched): string {
  const predicate = `(${computedCondition(action)}) is not true`;
  return action.where === undefined ? predicate : `(${predicate}) and (${action.where})`;
}

/**
 * Whether a row has a mark of this computation: with marks of another one, all rows would look outdated. False if a column
 * is missing that it reads.
 */
export async function areItsMarks(
  action: Watched,
  columns: readonly Column[],
  rows: Pick<RowAccess, "read">,
): Promise<boolean> {
  const { table, key, from, mark = markName } = action;
  if (![key, mark, ...from].every((name) => columns.some((one) => one.name === name))) return false;
  const select = [["mark", sqlPath([mark])]] as const;
  return (await rows.read(table, { select, where: computedCondition(action), limit: 1 })).length > 0;
}

/** `columns`: those of the table, including those that migrations don't see. */
export async function* staleRows(
  action: Watched,
  columns: readonly Column[],
  rows: Pick<RowAccess, "batches">,
): AsyncIterable<readonly StaleRow[]> {
  const { table, key, mark = markName } = action;
  const { name, type } = requireColumn(table, columns, parsePath(action.path));
  const print = printSql(name, type);
  const select = [
    ["key", sqlPath([key])],
    ["mark", sqlPath([mark])],
    ["now", `arrow_cast(${markSql(action)}, 'Utf8')`],
    ["value", sqlPath([name])],
    ...(print === undefined ? [] : ([["print", `arrow_cast(${print}, 'Utf8')`]] as const)),
  ] as const;
  for await (const batch of rows.batches(table, { select, where: mayBeStale(action) }))
    yield batch.flatMap((row) => {
      const why = whyStale(row, type, action);
      return why === undefined ? [] : [{ key: row["key"] ?? null, why }];
    });
}

/** `mark`: that of the row; `now`: the mark of its present sources. A row for which the code fails may keep its value. */
function whyStale(
  { mark: marked = null, now, value: found = null, print }: RowValues,
  type: Column["type"],
  { keepsFailed = false }: Watched,
): StaleReason | undefined {
  const mark = marked as string | null;
  const value = isTooShort(found, type) ? null : found;
  // An application has written the row, with its own value if there is one.
  if (mark === null) return value === null ? "missing" : undefined;
  if (value === null) return markIn(mark) === now ? "failed" : "missing";
  // The code has given the row no value, so an application has.
  if (mark.startsWith(nullMark) || (mark.startsWith(failedMark) && !keepsFailed)) return undefined;
  if (markIn(mark) === now) return "failed";
  return isValueOf(mark, value, type, print) ? "outdated" : undefined;
}

/** Whether clients have filled up a vector that was too short for the column. */
function isTooShort(value: RowValue, { kind }: Column["type"]): boolean {
  return kind === "fixedSizeList" && Array.isArray(value) && value.includes(null);
}
