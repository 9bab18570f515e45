/** A table whose old versions can be read, as needed to restore one and to count the rows written since. */
import type { Column } from "../../schema/data-type.ts";
import type { TableVersion } from "./versions.ts";

/** Names of columns, or SQL expressions with the names that they get. */
export type SelectedColumns = readonly string[] | readonly (readonly [name: string, sql: string])[];

/** What a target must provide about the versions of one table. */
export interface VersionedTable {
  /** At most this many rows are compared by value. */
  readonly mostCompared: number;
  /** The newest version. */
  version(): Promise<number>;
  /** In ascending order. */
  list(): Promise<readonly (TableVersion & { readonly metadata: Readonly<Record<string, string>> })[]>;
  columns(version: number): Promise<readonly Column[]>;
  /** The number of rows that match an SQL predicate, or of all rows, in a version or in the current table. */
  count(version: number | undefined, filter?: string): Promise<number>;
  /** These columns, or expressions with their names, of all rows or of those that match, as Arrow IPC files or streams. */
  batches(version: number, columns: SelectedColumns, filter?: string): AsyncIterable<Buffer>;
  /** Identifies what a version holds, if that is possible without reading rows. */
  readonly contents?: ((version: number) => Promise<VersionContents | undefined>) | undefined;
  /** An Arrow IPC file. */
  rows(version: number, filter: string, columns?: readonly (readonly [name: string, sql: string])[]): Promise<Buffer>;
  restore(version: number): Promise<void>;
  append(file: Buffer): Promise<void>;
}

/** Two versions with the same `ids` and `files` hold the same rows. */
export interface VersionContents {
  /** An id of each top-level column, by its name. A column that was dropped and added again has another id. */
  readonly ids: ReadonlyMap<string, string>;
  readonly files: string;
}
