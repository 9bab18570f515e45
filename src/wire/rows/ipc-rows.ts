/** The rows of small tables, as plain data. */
import type { Table } from "apache-arrow";

/** A value of a small table. Timestamps are milliseconds since 1970. */
export type Cell = string | number | null;
export type Row = Readonly<Record<string, Cell>>;

/** The given columns of the rows of a table, which has them unless it is empty. */
export function rowsOf(table: Pick<Table, "numRows" | "getChild">, names: readonly string[]): readonly Row[] {
  const columns = names.map((name) => [name, table.getChild(name)] as const);
  return Array.from({ length: table.numRows }, (_, index) =>
    Object.fromEntries(columns.map(([name, values]) => [name, toCell(values!.get(index))])),
  );
}

function toCell(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Date) return value.getTime();
  return value as string | number;
}

/** The last row by the order of some columns; undefined if there are no rows. */
export function lastRow(rows: readonly Row[], order: readonly string[]): Row | undefined {
  return rows.reduce<Row | undefined>((last, row) => {
    const differs = order.find((column) => last !== undefined && last[column] !== row[column]);
    return last === undefined || (differs !== undefined && row[differs]! > last[differs]!) ? row : last;
  }, undefined);
}
