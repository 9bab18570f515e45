/** The rows that an action is about, as a query on the current tables: those that code computes, and those of a condition. Pure. */
import type { Action, UpdateRowsAction } from "../../actions/model/action.ts";
import type { ColumnRef, ComputedValues } from "../../actions/model/action-model.ts";
import {
  changesRows,
  computedBy,
  givenBy,
  givenTo,
  refAfter,
  tablesOfAction,
  writtenBy,
} from "../../actions/apply-action.ts";
import { followValues, originOf, tableBefore } from "../../actions/follow.ts";
import type { Column } from "../../schema/data-type.ts";
import type { Path } from "../../schema/path.ts";
import { namesIn } from "../../schema/sql.ts";
import type { Database } from "../../schema/table.ts";
import type { PlannedCommit } from "../commits/commits.ts";

export type CommitOnTable = Pick<PlannedCommit, "action" | "before">;

export interface RowsToCompute {
  /** The table's current name. */
  readonly table: string;
  /** An SQL predicate over the current columns; undefined for all rows. */
  readonly where: string | undefined;
}

/** What code computes in one of these commits. */
export function computedIn(commits: readonly CommitOnTable[]): ComputedValues | undefined {
  return commits.flatMap(({ action }) => computedBy(action) ?? [])[0];
}

/** The column that code computes in one of these commits. */
export function computedColumn(commits: readonly CommitOnTable[]): Column | undefined {
  const computing = commits.find(({ action }) => computedBy(action) !== undefined);
  const written = computing && writtenBy(computing.action, computing.before.get(computing.action.table));
  return written !== undefined && "columns" in written ? written.columns[0] : undefined;
}

/** The current path of a column, if these actions do not change its values; undefined if they do. */
export function sourceNow(at: ColumnRef, before: readonly Action[], now: Database): Path | undefined {
  return originOf(at, before, now, (one, action) =>
    givenTo(one, action) === undefined ? refAfter(one, action) : undefined,
  )?.path;
}

/**
 * The rows that an update, a deletion or a count of lost values is about. Undefined if they do not follow from the current tables: earlier
 * actions add or remove rows, or change what the condition reads. A column that is added before them is not looked for:
 * the query fails.
 */
export function rowsOfCondition(
  { table, where }: Pick<UpdateRowsAction, "table" | "where">,
  before: readonly Action[],
  now: Database,
): RowsToCompute | undefined {
  const from = tableBefore(table, before, now);
  if (from === undefined || before.some((one) => isOn([from, table], one) && changesRowSet(one))) return undefined;
  const words = new Set(namesIn(where ?? "").map((name) => name.toLowerCase()));
  const read = now.get(from)!.columns.filter(({ name }) => words.has(name.toLowerCase()));
  const isAsNow = read.every(({ name }) => {
    const source = uncastNow({ table, path: [name] }, before, now);
    return source?.length === 1 && source[0] === name;
  });
  return isAsNow ? { table: from, where } : undefined;
}

/** The current path of a column, if these actions neither change nor cast its values. */
export function uncastNow(at: ColumnRef, before: readonly Action[], now: Database): Path | undefined {
  const path = sourceNow(at, before, now);
  const from = tableBefore(at.table, before, now);
  if (path === undefined || from === undefined) return undefined;
  return followValues({ table: from, path }, before)?.casts.length === 0 ? path : undefined;
}

export function isOn(tables: readonly string[], action: Action): boolean {
  return tablesOfAction(action).some((name) => tables.includes(name));
}

/** Whether an action may write rows to a table that it leaves or creates. */
export function addsRows(action: Action): boolean {
  return action.kind === "createTable" ? (action.rows ?? []).length > 0 : changesRowSet(action);
}

/** Whether an action may add or remove rows. */
export function changesRowSet(action: Action): boolean {
  if (action.kind === "restoreTable") return true;
  return changesRows(action) && !keepsRows.has(action.kind) && givenBy(action).length === 0;
}

const keepsRows: ReadonlySet<Action["kind"]> = new Set(["createIndex", "optimizeTable", "rebuildIndex"]);
