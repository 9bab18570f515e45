/** Writes rows that are given as Arrow IPC files. The package's own methods would decode them with apache-arrow. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { MergeResult, UpdateResult } from "@lancedb/lancedb";
import { nativeTable, type AnyTable } from "./engine.ts";

interface MergeOptions {
  readonly on: readonly string[];
  /** Update rows that match; with a condition, only those that meet it. */
  readonly update?: boolean | string | undefined;
  readonly insert?: boolean | undefined;
  /** Delete rows of the table that no new row matches; with a condition, only those that meet it. */
  readonly delete?: boolean | string | undefined;
  readonly useIndex?: boolean | undefined;
}

/** Appends the rows of a file, or replaces all rows of the table with them. Gives the new version. */
export async function addRows(table: AnyTable, file: Buffer, mode: "append" | "overwrite"): Promise<number> {
  return (await nativeTable(table).add(file, mode)).version;
}

/** Adds the columns of a file's schema, all null. Gives the new version. */
export async function addNullColumns(table: AnyTable, file: Buffer): Promise<number> {
  return (await nativeTable(table).addColumnsWithSchema(file)).version;
}

/** Sets columns to SQL expressions, in all rows or in those where a predicate holds. */
export async function updateRows(
  table: AnyTable,
  set: readonly (readonly [column: string, sql: string])[],
  where: string | undefined,
): Promise<UpdateResult> {
  const columns = set.map(([column, sql]): [string, string] => [column, sql]);
  return await nativeTable(table).update(where, columns);
}

/** Deletes the rows where a predicate holds. Gives the new version. */
export async function deleteRows(table: AnyTable, where: string): Promise<number> {
  return (await nativeTable(table).delete(where)).version;
}

export async function mergeRows(table: AnyTable, merge: MergeOptions, file: Buffer): Promise<MergeResult> {
  let builder = nativeTable(table).mergeInsert([...merge.on]);
  const condition = (value: boolean | string) => (typeof value === "string" ? value : undefined);
  if (merge.update !== undefined && merge.update !== false)
    builder = builder.whenMatchedUpdateAll(condition(merge.update));
  if (merge.insert === true) builder = builder.whenNotMatchedInsertAll();
  if (merge.delete !== undefined && merge.delete !== false)
    builder = builder.whenNotMatchedBySourceDelete(condition(merge.delete));
  if (merge.useIndex !== undefined) builder = builder.useIndex(merge.useIndex);
  return await builder.execute(file);
}

/**
 * Whether the engine merges rows into a log beside the table, after `setLsmWriteSpec`, which no other write sees
 * (docs/internals/engine.md). `folder` is that of the database, if it is one; `open` opens the table.
 */
export async function keepsLog(
  { folder, table }: { readonly folder: string | undefined; readonly table: string },
  open: () => Promise<AnyTable | undefined>,
): Promise<boolean> {
  if (folder !== undefined && !existsSync(join(folder, `${table}.lance`, "_mem_wal"))) return false;
  const opened = await open();
  if (opened === undefined) return false;
  const handle = nativeTable(opened);
  // Older engines can set a log, and not tell whether there is one.
  return "getLsmWriteSpec" in handle
    ? ((await handle.getLsmWriteSpec()) ?? undefined) !== undefined
    : folder !== undefined;
}
