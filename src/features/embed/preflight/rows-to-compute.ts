/** The rows that code computes in an action, as a query on the current tables. */
import type { Action } from "../../../actions/model/action.ts";
import { givenTo, refAfter, tablesOfAction } from "../../../actions/apply-action.ts";
import { isNull } from "../../../actions/model/risk.ts";
import { originOf, tableBefore } from "../../../actions/follow.ts";
import { sqlPath } from "../../../schema/sql.ts";
import type { Database } from "../../../schema/table.ts";
import {
  changesRowSet,
  computedIn,
  isOn,
  uncastNow,
  type CommitOnTable,
  type RowsToCompute,
} from "../../../plan/assess/rows-to-compute.ts";

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

/** Whether the table has now the keys by which code identifies rows: before that, a cast may make two the same. */
export function keepsKeys(
  { table, key }: { readonly table: string; readonly key: string },
  before: readonly Action[],
  now: Database,
): boolean {
  return uncastNow({ table, path: [key] }, before, now) !== undefined;
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

function both(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || other === undefined ? (one ?? other) : `(${one}) and (${other})`;
}
