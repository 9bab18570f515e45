/** New columns, as the engine's method takes them. */
import type { AnyTable, NativeTable } from "../../engine/engine.ts";
import { onEmptyTable } from "../../engine/try-calls.ts";
import { resultColumns } from "../../engine/query.ts";
import type { AddedColumn } from "../../actions/model/action.ts";
import type { Table } from "../../schema/table.ts";
import { formsOf, columnSql } from "../../wire/arrow/arrow-cast.ts";
import { computedSql } from "../../wire/arrow/computed-column.ts";

type NewColumns = NewColumn[] | { readonly computed: NewColumn[] };
interface NewColumn {
  readonly name: string;
  readonly valueSql: string;
}

/** Gives the new version. */
export async function addColumns(table: NativeTable, columns: readonly AddedColumn[]): Promise<number> {
  return await add(table, newColumns(columns, await cheapestSql(columns, table)));
}

export async function add(table: NativeTable, added: NewColumns): Promise<number> {
  return (await ("computed" in added ? table.addComputedColumns(added.computed) : table.addColumns(added))).version;
}

/** The columns as one call accepts them: all computed, or all filled from expressions, which are `sql` if it is given. */
export function newColumns(
  columns: readonly AddedColumn[],
  sql: readonly string[] = columns.map(columnSql),
): NewColumns {
  if (columns.some(({ computed }) => computed === undefined))
    return columns.map(({ name }, index) => ({ name, valueSql: sql[index]! }));
  return { computed: columns.map((column) => ({ name: column.name, valueSql: computedSql(column) })) };
}

/** For each column, the expression that takes the engine the least time and still gives a column of that nullability. */
export async function cheapestSql(columns: readonly AddedColumn[], table: AnyTable): Promise<readonly string[]> {
  return await Promise.all(columns.map(async (column) => await cheapestOf(formsOf(column), table)));
}

/** The same for a table that may not be there yet. */
export async function cheapestSqlBefore(
  columns: readonly AddedColumn[],
  before: Table,
): Promise<readonly string[] | undefined> {
  if (columns.every((column) => formsOf(column).length === 1)) return undefined;
  return await onEmptyTable(before.columns, (table) => cheapestSql(columns, table)).catch(() => undefined);
}

async function cheapestOf([form, ...others]: readonly string[], table: AnyTable): Promise<string> {
  if (others.length === 0 || (await isNullable(form!, table))) return form!;
  return await cheapestOf(others, table);
}

/** Whether the column would be nullable. A search infers it like `addColumns`, but refuses to return only constants. */
async function isNullable(sql: string, table: AnyTable): Promise<boolean> {
  const [column] = await resultColumns(table, { columns: [["value", sql]] }).catch(() => []);
  return column?.nullable === true;
}
