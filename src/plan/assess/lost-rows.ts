/**
 * The rows that lose a value if a column gets the values of an expression in the place of its own: those whose value is
 * not what a cast of it gives. Pure.
 */
import type { Action, ActionFor } from "../../actions/model/action.ts";
import { lineagesOf, tableBefore } from "../../actions/follow.ts";
import { finestOf } from "../../schema/cast-rules.ts";
import { isTextType, typesWithin, type DataType } from "../../schema/data-type.ts";
import { parsePath } from "../../schema/path.ts";
import { sqlPath, sqlText } from "../../schema/sql.ts";
import { requireColumn, type Database } from "../../schema/table.ts";
import { arrowName, castSql } from "../../wire/arrow/arrow-cast.ts";
import type { PlannedAction } from "../make-plan.ts";
import { addsRows, rowsOfCondition, type RowsToCompute } from "./rows-to-compute.ts";

/** How many rows lose a value by an action; undefined if unknown. */
export type LostRows = ReadonlyMap<PlannedAction, number | undefined>;

/**
 * Queries, of which the first one that the target accepts counts the rows. None if these rows do not follow from the
 * current tables; `isEmpty`: there will be no rows. `earlier`: the actions between the current tables and this one.
 */
export interface LossQueries {
  readonly queries: readonly RowsToCompute[];
  readonly isEmpty: boolean;
}

/** Undefined if the action loses values of no rows, or the rows do not decide about it. */
export function lossQueries(
  { action, before, risks }: PlannedAction,
  earlier: readonly Action[],
  now: Database,
): LossQueries | undefined {
  if (action.kind !== "convertColumn" || !risks.some(({ isCounted }) => isCounted)) return undefined;
  const { table } = action;
  if (tableBefore(table, earlier, now) === undefined) {
    const lineages = lineagesOf(earlier);
    return { queries: [], isEmpty: !earlier.some((one, index) => lineages[index]!.last === table && addsRows(one)) };
  }
  const { type } = requireColumn(table, before.get(table)!.columns, parsePath(action.path));
  const queries = predicates(action, type).flatMap((where) => {
    const rows = rowsOfCondition({ table, where }, earlier, now);
    return rows ?? [];
  });
  return { queries, isEmpty: false };
}

/** If the engine has no such cast, every row that has a value loses it. */
function predicates({ path, type, using }: ActionFor<"convertColumn">, from: DataType): readonly string[] {
  const own = sqlPath(parsePath(path));
  const has = `${own} IS NOT NULL`;
  return [`${has} AND NOT (${isKept(own, from, castSql(`(${using})`, type), type)})`, has];
}

/** Whether a value that is not null is the same in the new type, as SQL. */
function isKept(was: string, from: DataType, is: string, to: DataType): string {
  if (from.kind !== "struct" || to.kind !== "struct") {
    const finest = finestOf(from, to);
    const name = typesWithin(from).some(isTextType) ? withWideDecimals(arrowName(finest)) : arrowName(finest);
    const into = (sql: string) => `arrow_try_cast(${sql}, ${sqlText(name)})`;
    const cast = into(was);
    const value = name === arrowName(to) ? is : into(is);
    return `${value} IS NOT NULL AND ${cast} IS NOT NULL AND ${value} = ${cast}${hasNoMore(was, from, finest)}`;
  }
  const fields = from.fields.map(({ name, type }) => {
    const field = (struct: string) => `get_field(${struct}, ${sqlText(name)})`;
    const into = to.fields.find((one) => one.name === name)!;
    return `(${field(was)} IS NULL OR (${isKept(field(was), type, field(is), into.type)}))`;
  });
  return [`${is} IS NOT NULL`, ...fields].join(" AND ");
}

/** With as many decimal places as the engine can have, beside the digits before the point that the type has. */
function withWideDecimals(name: string): string {
  return name.replaceAll(
    /Decimal128\((\d+), (-?\d+)\)/g,
    (_, precision, scale) => `Decimal256(76, ${76 - Number(precision) + Number(scale)})`,
  );
}

/** That a text has no fraction of a second which the finest type of a time cuts too, as SQL that follows other conditions. */
function hasNoMore(was: string, from: DataType, finest: DataType): string {
  if (!isTextType(from) || (finest.kind !== "timestamp" && finest.kind !== "time64")) return "";
  const digits = finest.unit === "ns" ? 9 : 6;
  return ` AND NOT regexp_like(${was}, '[.][0-9]{${digits}}[0-9]*[1-9]')`;
}
