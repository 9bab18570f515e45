/** A table of which old versions can be read: what restoring one, and counting the rows written since, need of it. */
import type { Column } from "../../schema/data-type.ts";
import type { TableVersion } from "./target.ts";

/** What a target has to tell of the versions of one table. */
export interface VersionedTable {
  /** At most this many rows are compared by value. */
  readonly mostCompared: number;
  /** The newest. */
  version(): Promise<number>;
  list(): Promise<readonly (TableVersion & { readonly metadata: Readonly<Record<string, string>> })[]>;
  columns(version: number): Promise<readonly Column[]>;
  /** Rows for which an SQL predicate holds, of a version or of the table as it is. */
  count(version: number | undefined, filter?: string): Promise<number>;
  /** These columns of all rows, as Arrow IPC files or streams. */
  batches(version: number, columns: readonly string[]): AsyncIterable<Buffer>;
  /** What a version holds, where that can be told without reading rows. */
  readonly contents?: ((version: number) => VersionContents | undefined) | undefined;
  /** An Arrow IPC file. */
  rows(version: number, filter: string, columns?: readonly (readonly [name: string, sql: string])[]): Promise<Buffer>;
  restore(version: number): Promise<void>;
  append(file: Buffer): Promise<void>;
}

/** Two versions with the same of both hold the same rows. */
export interface VersionContents {
  /** What identifies each top-level column: another text for a column that was dropped and added again. */
  readonly ids: ReadonlyMap<string, string>;
  readonly files: string;
}
