/** The rows whose values code of the project will compute, as a query on the current tables. Pure. */
import type { Action } from "../../actions/model/action.ts";
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
import { sqlPath } from "../../schema/sql.ts";
import type { Database } from "../../schema/table.ts";
import type { PlannedCommit } from "../commits/commits.ts";

type Commit = Pick<PlannedCommit, "action" | "before">;

export interface RowsToCompute {
  /** The table's current name. */
  readonly table: string;
  /** An SQL predicate over the current columns; undefined for all rows. */
  readonly where: string | undefined;
}

/** What code computes in one of these commits. */
export function computedIn(commits: readonly Commit[]): ComputedValues | undefined {
  return commits.flatMap(({ action }) => computedBy(action) ?? [])[0];
}

/** The column that code computes in one of these commits. */
export function computedColumn(commits: readonly Commit[]): Column | undefined {
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
  commits: readonly Commit[],
  before: readonly Action[],
  now: Database,
  isMarked: boolean,
): RowsToCompute | undefined {
  const values = computedIn(commits);
  if (values === undefined) return undefined;
  const [{ action }] = commits as [Commit];
  const { column, how, overwrite } = values;
  const table = tableBefore(action.table, before, now);
  if (table === undefined || !(how.where === undefined || isAsNow(table, before, now))) return undefined;
  const own = before.filter((one) => tablesOfAction(one).some((name) => name === table || name === action.table));
  if (own.some(changesRowSet)) return undefined;
  if (isMarked) return { table, where: both(values.pending, how.where) };
  if (overwrite) return { table, where: how.where };
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

/** Whether the table has now the keys by which these commits identify rows: before them, a cast may make two the same. */
export function keepsKeys(commits: readonly Commit[], before: readonly Action[], now: Database): boolean {
  const values = computedIn(commits);
  if (values === undefined) return false;
  const { table } = commits[0]!.action;
  const path = sourceNow({ table, path: [values.how.key] }, before, now);
  const from = tableBefore(table, before, now);
  return path !== undefined && from !== undefined && followValues({ table: from, path }, before)?.casts.length === 0;
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

/** Whether an action may add or remove rows. */
function changesRowSet(action: Action): boolean {
  return action.kind === "restoreTable" || (changesRows(action) && givenBy(action).length === 0);
}

function both(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || other === undefined ? (one ?? other) : `(${one}) and (${other})`;
}
