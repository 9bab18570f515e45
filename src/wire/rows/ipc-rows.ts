/** The rows of small tables, as plain data. */

/** A value of a small table. Timestamps are milliseconds since 1970. */
export type Cell = string | number | null;
export type Row = Readonly<Record<string, Cell>>;

/** A column has values of another type than expected. */
export class WrongColumn extends TypeError {
  readonly column: string;

  constructor(column: string, problem: string) {
    super(`${column} ${problem}`);
    this.column = column;
  }
}

/** The last row by the order of some columns; undefined if there are no rows. */
export function lastRow(rows: readonly Row[], order: readonly string[]): Row | undefined {
  return rows.reduce<Row | undefined>((last, row) => {
    const differs = order.find((column) => last !== undefined && last[column] !== row[column]);
    return last === undefined || (differs !== undefined && row[differs]! > last[differs]!) ? row : last;
  }, undefined);
}
