/**
 * Rows of tables, for values that code of the project computes. A target that gets no answer may repeat any of these
 * calls: rows may then be appended twice, and fewer be counted than were changed.
 */
import type { Column } from "../../schema/data-type.ts";
import type { FoundIndex } from "../../schema/table-index.ts";
import type { RowValues } from "../../schema/row-values.ts";

export interface RowAccess {
  /** The columns of a table; undefined if there is none, or if it can't be read. */
  columns(table: string): Promise<readonly Column[] | undefined>;
  /** The indexes of a table by name, including those that migrations don't see. */
  indexes(table: string): Promise<Readonly<Record<string, FoundIndex>>>;
  /** The version of a table; undefined if there is none, or if its rows have no addresses, which change with a row. */
  version(table: string): Promise<number | undefined>;
  /**
   * SQL expressions, by the names that they get, of at most `limit` rows for which a predicate holds. In no order, and
   * none if there is no table.
   */
  read(table: string, wanted: WantedValues): Promise<readonly RowValues[]>;
  /** As `read`, in batches: rows may be too many for memory. */
  batches(table: string, wanted: WantedValues): AsyncIterable<readonly RowValues[]>;
  /** SQL expressions, by the names that they get, of the rows whose vectors are nearest; the nearest row first. */
  nearest(table: string, wanted: WantedNeighbours): Promise<readonly RowValues[]>;
  /**
   * Gives the rows with these keys the values of the other columns, in one commit, if the condition holds for them;
   * `target` and `source` name the row of the table and the new one. Returns how many rows it changed.
   */
  update(table: string, key: string, values: NewValues, condition: string): Promise<number>;
  /** In how many ranges the addresses of rows in such a condition may be; in any number when absent. */
  readonly mostRanges?: number | undefined;
  /** Sets columns to null in the rows for which a predicate holds, in one commit. */
  setNull(table: string, columns: readonly string[], where: string): Promise<void>;
  /** Appends rows. Creates the table if there is none. */
  append(table: string, values: NewValues): Promise<void>;
  /** Makes searches for values of a column faster; absent if the target does that itself, or can't. */
  readonly indexColumn?: ((table: string, column: string) => Promise<void>) | undefined;
  /** Deletes the rows for which a predicate holds, in one commit. */
  delete(table: string, where: string): Promise<void>;
  /** Drops the table if there is one. */
  drop(table: string): Promise<void>;
  /** Where the files of a table are; absent if other programs can't read and write them. */
  readonly files?: ((table: string) => TableFiles) | undefined;
}

/** The address of a table for other programs that know its format, and the options of its object store. */
export interface TableFiles {
  readonly uri: string;
  readonly options?: Readonly<Record<string, string>> | undefined;
}

export interface WantedValues {
  readonly select: readonly (readonly [name: string, sql: string])[];
  readonly where?: string | undefined;
  readonly limit?: number | undefined;
}

export interface WantedNeighbours extends WantedValues {
  /** The path of the column of vectors. */
  readonly column: string;
  /** The query: one vector, or several for a column of lists of vectors. */
  readonly vectors: readonly (readonly number[])[];
  /** The name of the distance, such as `cosine`. An index with another distance is not used. */
  readonly distance: string;
  /** Whether to compare with every vector, instead of using an index. */
  readonly exact: boolean;
  readonly limit: number;
}

export interface NewValues {
  readonly columns: readonly Column[];
  readonly rows: readonly RowValues[];
  /** Metadata of columns by their names, if the table is created. A service may ignore it. */
  readonly fields?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined;
}
