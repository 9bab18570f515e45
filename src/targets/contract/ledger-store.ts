/** How a target stores a ledger: in a small table of rows, or in the names of tables. */
import type { Column } from "../../schema/data-type.ts";
import type { Row } from "../../wire/rows/ipc-rows.ts";

/** How the target can store a ledger. */
export type LedgerStore =
  /** In a small table. */
  | { readonly kind: "rows"; readonly records: (shape: RecordShape) => RecordTable }
  /** In the names of tables, if rows can be written only with a new table and never be read. */
  | { readonly kind: "markers"; readonly create: CreateMarker };

/** Creates a table with one row; false if one of that name exists. Of n racing creators exactly one gets true. */
export type CreateMarker = (name: string, columns: readonly Column[], row: Row) => Promise<boolean>;

export interface RecordShape {
  /** The table's name. */
  readonly name: string;
  readonly columns: readonly Column[];
  /** The column whose values are unique. */
  readonly key: string;
}

/** A small table that only grows. Reads see what all other processes have written. */
export interface RecordTable {
  /** Creates the table unless it exists. Racing creators all use the same table. */
  create(): Promise<void>;
  /** These columns of every row, in any order; undefined if there is no table. A row may be made when it is asked for. */
  all(columns: readonly string[]): Promise<Iterable<Row> | undefined>;
  /**
   * `columns` of the last row by `order`, and whether any row matches an SQL predicate; undefined without table or rows.
   * Fast for any number of rows. `predicate`: for the last row; without it, one that is true of at least the same rows.
   */
  last(
    order: readonly string[],
    columns: readonly string[],
    predicate: (row?: Row) => string,
  ): Promise<{ readonly row: Row; readonly matched: boolean } | undefined>;
  /** How many rows match an SQL predicate; 0 if there is no table. */
  count(predicate: string): Promise<number>;
  /** Adds a row unless its key exists. Of n racing callers exactly one gets true. */
  insertIfAbsent(row: Row): Promise<boolean>;
  insert(rows: readonly Row[]): Promise<void>;
  /**
   * Merges small files if there are many, but keeps what others may be reading. Called by one writer at a time, which may
   * insert meanwhile.
   */
  compact(): Promise<void>;
}
