/**
 * The values of variable length that commits write, as SQL on the current tables, so that their length can be sampled.
 * Pure.
 */
import type { Action } from "../../actions/model/action.ts";
import { givenTo, refAfter, tablesOfAction, writtenBy } from "../../actions/apply-action.ts";
import { originOf } from "../../actions/follow.ts";
import type { Column } from "../../schema/data-type.ts";
import { sqlPath } from "../../schema/sql.ts";
import { findColumn, type Database } from "../../schema/table.ts";
import { widthOf } from "../../schema/type-width.ts";
import { castTo } from "../rollback/blocker-kinds.ts";
import type { PlannedCommit } from "../commits/commits.ts";

export interface WrittenValue {
  /** The column's name after the commit. */
  readonly column: string;
  /** The table's current name. */
  readonly table: string;
  readonly sql: string;
}

/**
 * `before`: the actions between the current tables and the commits. Leaves out values that do not follow from the
 * current tables.
 */
export function writtenValues(
  commits: readonly Pick<PlannedCommit, "action" | "before">[],
  before: readonly Action[],
  now: Database,
): readonly WrittenValue[] {
  return commits.flatMap(({ action, before: tables }, index) => {
    const written = writtenBy(action, tables.get(action.table));
    if (written === undefined || !("columns" in written)) return [];
    // A query returns the location of a blob, not the blob itself.
    const variable = written.columns.filter(
      ({ type, metadata }) =>
        widthOf(type).variable > 0 && type.kind !== "blob" && metadata?.["lance-encoding:blob"] === undefined,
    );
    const until = [...before, ...commits.slice(0, index + 1).map((one) => one.action)];
    return variable.flatMap((column) => {
      const expression = expressionOf(column, action);
      const from =
        expression === undefined ? sourceOf(column, action, until, now) : worksNow(action.table, before, expression);
      if (from === undefined) return [];
      const sql = from.isVariable ? from.sql : castTo(from.sql, [column.type]);
      return { column: column.name, table: from.table, sql };
    });
  });
}

interface ValueSource {
  readonly table: string;
  readonly sql: string;
  readonly isVariable: boolean;
}

/** The SQL of the values that the action gives to the column; undefined if it keeps those that the column has. */
function expressionOf({ name, computed }: Column, action: Action): string | undefined {
  const given = givenTo({ table: action.table, path: [name] }, action);
  return given && (given.sql ?? computed);
}

/** Undefined if an earlier action touches the table: the expression uses the column names after that action. */
function worksNow(table: string, before: readonly Action[], expression: string): ValueSource | undefined {
  const isAsNow = before.every((one) => !tablesOfAction(one).includes(table));
  return isAsNow ? { table, sql: `(${expression})`, isVariable: false } : undefined;
}

/** The current column that these actions turn into the given one without changing its values. */
function sourceOf(
  { name }: Column,
  { table }: Action,
  actions: readonly Action[],
  now: Database,
): ValueSource | undefined {
  const from = originOf({ table, path: [name] }, actions, now, (at, action) =>
    givenTo(at, action) === undefined ? refAfter(at, action) : undefined,
  );
  if (from === undefined) return undefined;
  const { type } = findColumn(now.get(from.table)!.columns, from.path)!;
  return { table: from.table, sql: sqlPath(from.path), isVariable: widthOf(type).variable > 0 };
}
