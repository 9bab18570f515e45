/** Maps names of tables and columns to their names at another point, such as after migrations that came in between. */
import type { RowValues } from "../../schema/row-values.ts";

export interface Moving {
  /** The table's name at that point. Throws ERR_MOVED if it is gone. */
  table(name: string): string;
  /** The column's path at that point. Throws ERR_MOVED if it is gone. */
  path(table: string, path: string): string;
  /** SQL that names the table's columns. Throws ERR_MOVED if it may name one that has another name at that point. */
  sql(table: string, sql: string): string;
  /** Values by column. Throws ERR_MOVED if a field inside one has another name at that point. */
  rows(table: string, rows: readonly RowValues[]): readonly RowValues[];
}
