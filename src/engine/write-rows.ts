/** Rows into a table, as Arrow IPC files: the package's own methods would take them apart with apache-arrow. */
import { native, type EngineTable } from "./engine.ts";

export interface Merge {
  readonly on: readonly string[];
  /** Update rows that match; with a condition only those. */
  readonly update?: boolean | string | undefined;
  readonly insert?: boolean | undefined;
  /** Delete rows of the table that the new ones don't match; with a condition only those. */
  readonly delete?: boolean | string | undefined;
  readonly useIndex?: boolean | undefined;
}

export interface MergeCounts {
  readonly version: number;
  readonly numInsertedRows: number;
  readonly numUpdatedRows: number;
  readonly numDeletedRows: number;
  readonly numAttempts: number;
  readonly numRows: number;
}

interface NativeMerge {
  whenMatchedUpdateAll(condition?: string): NativeMerge;
  whenNotMatchedInsertAll(): NativeMerge;
  whenNotMatchedBySourceDelete(condition?: string): NativeMerge;
  useIndex(use: boolean): NativeMerge;
  execute(file: Buffer): Promise<MergeCounts>;
}

interface NativeTable {
  add(file: Buffer, mode: "append" | "overwrite"): Promise<{ version: number }>;
  addColumnsWithSchema(file: Buffer): Promise<{ version: number }>;
  mergeInsert(on: readonly string[]): NativeMerge;
}

/** Adds the rows of a file, or puts them in the place of all that is there. Gives the version. */
export async function addRows(table: EngineTable, file: Buffer, mode: "append" | "overwrite"): Promise<number> {
  return (await native<NativeTable>(table).add(file, mode)).version;
}

/** Adds the columns of a file's schema, all null. Gives the version. */
export async function addNullColumns(table: EngineTable, file: Buffer): Promise<number> {
  return (await native<NativeTable>(table).addColumnsWithSchema(file)).version;
}

export async function mergeRows(table: EngineTable, merge: Merge, file: Buffer): Promise<MergeCounts> {
  let builder = native<NativeTable>(table).mergeInsert(merge.on);
  const condition = (value: boolean | string) => (typeof value === "string" ? value : undefined);
  if (merge.update !== undefined && merge.update !== false)
    builder = builder.whenMatchedUpdateAll(condition(merge.update));
  if (merge.insert === true) builder = builder.whenNotMatchedInsertAll();
  if (merge.delete !== undefined && merge.delete !== false)
    builder = builder.whenNotMatchedBySourceDelete(condition(merge.delete));
  if (merge.useIndex !== undefined) builder = builder.useIndex(merge.useIndex);
  return await builder.execute(file);
}
