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
import { isNull } from "../../actions/model/risk.ts";
import { followValues, originOf, tableBefore } from "../../actions/follow.ts";
import type { Column } from "../../schema/data-type.ts";
import type { Path } from "../../schema/path.ts";
import { namesIn, sqlPath } from "../../schema/sql.ts";
import type { Database } from "../../schema/table.ts";
import type { PlannedCommit } from "../commits/commits.ts";

type CommitOnTable = Pick<PlannedCommit, "action" | "before">;

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

/**
 * `commits`: those that are left of the action. `before`: the actions between the current tables and these commits.
 * `isMarked`: whether the table has the marks of these values already. Undefined if the rows do not follow from the
 * current tables.
 */
export function rowsToCompute(
  commits: readonly CommitOnTable[],
  before: readonly Action[],
  now: Database,
  isMarked: boolean,
): RowsToCompute | undefined {
  const values = computedIn(commits);
  if (values === undefined) return undefined;
  const [{ action }] = commits as [CommitOnTable];
  const { column, how, overwrite, lacking } = values;
  const table = tableBefore(action.table, before, now);
  if (table === undefined || !(how.where === undefined || isAsNow(table, before, now))) return undefined;
  if (before.some((one) => isOn([table, action.table], one) && changesRowSet(one))) return undefined;
  if (isMarked) return { table, where: both(values.pending, how.where) };
  if (overwrite) return { table, where: both(lacking, how.where) };
  const at = { table: action.table, path: [column] };
  const isGiven = before.some((one) => {
    const given = givenTo(at, one);
    return given !== undefined && !isNull(given.sql);
  });
  if (isGiven) return undefined;
  const from = originOf(at, before, now);
  return { table, where: both(from && `${sqlPath(from.path)} is null`, how.where) };
}

/** The current path of a column, if these actions do not change its values; undefined if they do. */
export function sourceNow(at: ColumnRef, before: readonly Action[], now: Database): Path | undefined {
  return originOf(at, before, now, (one, action) =>
    givenTo(one, action) === undefined ? refAfter(one, action) : undefined,
  )?.path;
}

/** Whether the table has now the keys by which code identifies rows: before that, a cast may make two the same. */
export function keepsKeys(
  { table, key }: { readonly table: string; readonly key: string },
  before: readonly Action[],
  now: Database,
): boolean {
  return uncastNow({ table, path: [key] }, before, now) !== undefined;
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
function uncastNow(at: ColumnRef, before: readonly Action[], now: Database): Path | undefined {
  const path = sourceNow(at, before, now);
  const from = tableBefore(at.table, before, now);
  if (path === undefined || from === undefined) return undefined;
  return followValues({ table: from, path }, before)?.casts.length === 0 ? path : undefined;
}

function isOn(tables: readonly string[], action: Action): boolean {
  return tablesOfAction(action).some((name) => tables.includes(name));
}

/** Whether a predicate over columns that the table has now means the same after these actions. */
function isAsNow(table: string, before: readonly Action[], now: Database): boolean {
  const { columns } = now.get(table)!;
  const own = before.filter((one) => tablesOfAction(one).includes(table));
  return own.every((one) =>
    columns.every(({ name }) => {
      const at = { table, path: [name] };
      const after = refAfter(at, one);
      return givenTo(at, one) === undefined && after?.table === table && after.path[0] === name;
    }),
  );
}

/** Whether an action may write rows to a table that it leaves or creates. */
export function addsRows(action: Action): boolean {
  return action.kind === "createTable" ? (action.rows ?? []).length > 0 : changesRowSet(action);
}

/** Whether an action may add or remove rows. */
function changesRowSet(action: Action): boolean {
  if (action.kind === "restoreTable") return true;
  return changesRows(action) && !keepsRows.has(action.kind) && givenBy(action).length === 0;
}

const keepsRows: ReadonlySet<Action["kind"]> = new Set(["createIndex", "optimizeTable", "rebuildIndex"]);

function both(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || other === undefined ? (one ?? other) : `(${one}) and (${other})`;
}
