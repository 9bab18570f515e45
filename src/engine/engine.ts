/** The embedded engine, loaded when it is first needed: its connections and tables, and its undocumented native binding. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Connection, Table as EngineTable } from "@lancedb/lancedb";
import type { Alteration } from "../actions/model/alteration.ts";
import type { Column } from "../schema/data-type.ts";
import type { NewTables } from "../schema/table-format.ts";
import type { Table } from "../schema/table.ts";
import { toLanceType } from "../wire/lance/lance-type.ts";
import type { DatabaseLocation } from "./location.ts";
import { checkTableFolder } from "./folder/symbolic-links.ts";
import { plainProblem } from "./problem/engine-problem.ts";

export type { Connection, EngineTable };

type Engine = typeof import("@lancedb/lancedb");

/** The classes behind those of the package, which its declarations do not show. */
interface Binding {
  readonly Connection: {
    new: (uri: string, options: { readonly readConsistencyInterval?: number | undefined }) => Promise<NativeDatabase>;
  };
}

/** What is needed of a connection to read tables. */
export interface NativeDatabase {
  openTable(name: string, namespace: readonly string[]): Promise<NativeTable>;
  close(): void;
}

// The binding behind the package's classes. The package's own alterColumns and createEmptyTable go through apache-arrow
// 18, which has no large_list and writes timestamps, times and durations in a form that the engine refuses.
export type NativeTable = ConstructorParameters<Engine["Query"]>[0];
interface NativeConnection {
  createTable(name: string, file: Buffer, mode: "create" | "overwrite", namespace: string[]): Promise<unknown>;
}

/** Loads the engine. */
export function loadEngine(): Engine {
  silence();
  return createRequire(import.meta.url)("@lancedb/lancedb") as Engine;
}

/** Silences warnings of the engine about ordinary creates, unless the user has set a log level. */
function silence(): void {
  process.env.LANCE_LOG ??= "error";
  process.env.LANCEDB_LOG ??= "error";
}

/**
 * Opens a database in a folder through the binding alone, in about half the time: the package's JavaScript loads
 * apache-arrow. Its table handles see at once what other processes commit.
 */
export async function connectNatively(folder: string): Promise<NativeDatabase> {
  silence();
  const require = createRequire(import.meta.url);
  // The package does not export this file; package.json pins the version in which it was found.
  const { Connection } = require(join(dirname(require.resolve("@lancedb/lancedb")), "native.js")) as Binding;
  return await Connection.new(folder, { readConsistencyInterval: 0 });
}

/** The same through the package, for object stores, whose options it converts. */
export async function connectThroughPackage(location: DatabaseLocation): Promise<NativeDatabase> {
  const { inner } = (await connect(location, 0)) as unknown as { readonly inner: NativeDatabase };
  return inner;
}

/**
 * Opens a database. With an interval of 0, its table handles see at once what other processes commit. `cacheBytes` is
 * the most memory for each of its two caches, of indexes and of metadata.
 */
export async function connect(
  {
    uri,
    storageOptions,
    cacheBytes,
  }: Pick<DatabaseLocation, "uri" | "storageOptions"> & { cacheBytes?: number | undefined },
  readConsistencyInterval?: number,
): Promise<Connection> {
  const { connect: open, Session } = loadEngine();
  const session = cacheBytes === undefined ? undefined : new Session(BigInt(cacheBytes), BigInt(cacheBytes));
  // As an option: the client ignores a session that it gets as an argument (measured with 0.39.0).
  return await open({ uri, storageOptions, readConsistencyInterval, session });
}

export async function readColumns(table: EngineTable): Promise<readonly Column[]> {
  return (await readSchema(table)).columns;
}

/** The columns, and the metadata of the schema. */
export async function readSchema(table: EngineTable): Promise<Pick<Table, "columns" | "metadata">> {
  // Lazy: a run with nothing pending reads no schema.
  const { tableFromIpc } = await import("../wire/arrow/arrow-schema.ts");
  const { withComputed } = await import("../wire/arrow/computed-column.ts");
  const { columns, metadata } = tableFromIpc(await readIpcSchema(table));
  return { columns: columns.map(withComputed), metadata };
}

export async function alterColumns(table: EngineTable, alterations: readonly Alteration[]): Promise<number> {
  const given = alterations.map(({ path, rename, type, nullable }) => {
    return { path, rename, dataType: type && JSON.stringify(toLanceType(type)), nullable };
  });
  return (await nativeTable(table).alterColumns(given)).version;
}

export async function createEmptyTable(
  db: Connection,
  name: string,
  columns: readonly Column[],
  metadata?: Readonly<Record<string, string>>,
): Promise<void> {
  const { toIpcFile } = await import("../wire/arrow/arrow-schema.ts");
  await createFilledTable(db, name, toIpcFile(columns, metadata), "create");
}

/** Storage options of a connection that determine how it creates tables. */
export function creationOptions({ dataStorageVersion, stableRowIds }: NewTables): Record<string, string> {
  return {
    ...(dataStorageVersion === undefined ? {} : { new_table_data_storage_version: dataStorageVersion }),
    ...(stableRowIds === undefined ? {} : { new_table_enable_stable_row_ids: String(stableRowIds) }),
  };
}

/** Creates a table from an Arrow IPC file, with everything that the file's schema contains. */
export async function createFilledTable(
  db: Connection,
  name: string,
  file: Buffer,
  mode: "create" | "overwrite",
): Promise<void> {
  const { inner } = db as unknown as { readonly inner: NativeConnection };
  await inner.createTable(name, file, mode, []);
}

/** The schema as an Arrow IPC file without rows. */
export async function readIpcSchema(table: EngineTable): Promise<Buffer> {
  return await nativeTable(table).schema();
}

/** The native binding behind a table of the package. Only for this folder. */
export function nativeTable(table: EngineTable): NativeTable {
  return (table as unknown as { readonly inner: NativeTable }).inner;
}

/** The table; undefined if there is none. Throws any other problem. `folder` is that of the database, if it is one. */
export async function openTable<Table = EngineTable>(
  db: { openTable(name: string, namespace: string[]): Promise<Table> },
  name: string,
  folder: string | undefined,
): Promise<Table | undefined> {
  checkTableFolder(folder, name);
  try {
    return await db.openTable(name, []);
  } catch (error) {
    // The binding gives every error the same code, so only the text tells them apart.
    if (plainProblem(error).startsWith(`Table '${name}' was not found`)) return undefined;
    throw error;
  }
}
