/** Tables and columns under the names that they have elsewhere, such as after migrations that came in between. */
import type { RowValues } from "../../schema/row-values.ts";

export interface Moving {
  /** The table's name there. Throws ERR_MOVED where it is gone. */
  table(name: string): string;
  /** The column's path there. Throws ERR_MOVED where it is gone. */
  path(table: string, path: string): string;
  /** SQL that names the table's columns. Throws ERR_MOVED where it may name one that is called otherwise there. */
  sql(table: string, sql: string): string;
  /** Values by column. Throws ERR_MOVED where a field inside is called otherwise there. */
  rows(table: string, rows: readonly RowValues[]): readonly RowValues[];
}
