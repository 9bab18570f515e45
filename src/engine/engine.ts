/** The embedded engine, loaded when it is first needed: its connections and tables, and its undocumented native binding. */
import { dirname, join } from "node:path";
import type { Connection, Session, Table as EngineTable } from "@lancedb/lancedb";
import type { Alteration } from "../actions/model/alteration.ts";
import type { Column } from "../schema/data-type.ts";
import { withExtensions } from "../schema/reserved-metadata.ts";
import type { NewTables } from "../schema/table-format.ts";
import type { Table } from "../schema/table.ts";
import { toLanceType } from "../wire/lance/lance-type.ts";
import type { DatabaseLocation } from "./location.ts";
import { checkTableFolder } from "./folder/symbolic-links.ts";
import { findEngine, loadFromEngine } from "./package/find-engine.ts";
import { plainProblem } from "./problem/engine-problem.ts";

export type { Connection, EngineTable };

type Engine = typeof import("@lancedb/lancedb");

/** The classes behind those of the package, which its declarations do not show. */
interface NativeBinding {
  readonly Connection: { new: (uri: string, options: NativeOptions) => Promise<NativeDatabase> };
  readonly Session: Engine["Session"];
}

interface NativeOptions {
  readonly readConsistencyInterval?: number | undefined;
  readonly storageOptions?: Record<string, string> | undefined;
  readonly session?: Session | undefined;
}

export interface NativeDatabase {
  createTable(name: string, file: Buffer, mode: "create" | "overwrite", namespace: string[]): Promise<unknown>;
  openTable(name: string, namespace: readonly string[]): Promise<NativeTable>;
  dropTable(name: string, namespace?: string[]): Promise<void>;
  tableNames(namespace?: string[]): Promise<string[]>;
  close(): void;
}

// The binding behind the package's classes. The package's own alterColumns and createEmptyTable go through apache-arrow
// 18, which has no large_list and writes timestamps, times and durations in a form that the engine refuses.
export type NativeTable = ConstructorParameters<Engine["Query"]>[0];

/** A table of the package, or the native one behind it. */
export type AnyTable = EngineTable | NativeTable;

/** Loads the engine. */
export function loadEngine(): Engine {
  silence();
  return loadFromEngine(findEngine()) as Engine;
}

/** Silences warnings of the engine about ordinary creates, unless the user has set a log level. */
function silence(): void {
  process.env.LANCE_LOG ??= "error";
  process.env.LANCEDB_LOG ??= "error";
}

/** A file of the package that it does not export. In a version that was not tested, the probes look for it first. */
function fileOfPackage(name: string): unknown {
  silence();
  return loadFromEngine(join(dirname(findEngine()), name));
}

/**
 * Opens a database like `connect`, in a folder through the binding alone: the package's JavaScript loads apache-arrow, which
 * takes longer than all else that many runs do. For an object store, the package converts the options.
 */
export async function connectNatively(
  { uri, folder, storageOptions }: Pick<DatabaseLocation, "uri" | "folder" | "storageOptions">,
  readConsistencyInterval?: number,
): Promise<NativeDatabase> {
  if (folder === undefined) return nativeDatabase(await connect({ uri, storageOptions }, readConsistencyInterval));
  return await throughBinding(uri, { readConsistencyInterval, storageOptions });
}

/** A new, empty database in memory. It is gone once it and its tables are. */
export async function connectInMemory(): Promise<NativeDatabase> {
  return await throughBinding("memory://", {});
}

async function throughBinding(uri: string, options: NativeOptions): Promise<NativeDatabase> {
  const { Connection: Native, Session: Caches } = fileOfPackage("native.js") as NativeBinding;
  return await Native.new(uri, { ...options, session: sessionOf(Caches) });
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
  const { connect: open, Session: Caches } = loadEngine();
  // As an option: the client ignores a session that it gets as an argument (measured with 0.39.0).
  return await open({ uri, storageOptions, readConsistencyInterval, session: sessionOf(Caches, cacheBytes) });
}

/**
 * The most memory for each cache of the engine, unless stated. Its own limits are 1 GB and 6 GB, and it keeps the metadata
 * of every file that it has written: code that computes a column writes thousands (docs/internals/performance.md).
 */
const mostCacheBytes = 32 * 2 ** 20;

function sessionOf(Caches: Engine["Session"], cacheBytes = mostCacheBytes): Session {
  return new Caches(BigInt(cacheBytes), BigInt(cacheBytes));
}

export async function readColumns(table: AnyTable): Promise<readonly Column[]> {
  return (await readSchema(table)).columns;
}

/** The columns, and the metadata of the schema. */
export async function readSchema(table: AnyTable): Promise<Pick<Table, "columns" | "metadata">> {
  // Lazy: a run with nothing pending reads no schema.
  const { tableFromIpc } = await import("../wire/arrow/arrow-schema.ts");
  const { withComputed } = await import("../wire/arrow/computed-column.ts");
  const { columns, metadata } = tableFromIpc(await readIpcSchema(table));
  return { columns: columns.map(withExtensions).map(withComputed), metadata };
}

export async function alterColumns(table: AnyTable, alterations: readonly Alteration[]): Promise<number> {
  const given = alterations.map(({ path, rename, type, nullable }) => {
    return { path, rename, dataType: type && JSON.stringify(toLanceType(type)), nullable };
  });
  return (await nativeTable(table).alterColumns(given)).version;
}

export async function createEmptyTable(
  db: Connection | NativeDatabase,
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
  db: Connection | NativeDatabase,
  name: string,
  file: Buffer,
  mode: "create" | "overwrite",
): Promise<void> {
  await nativeDatabase(db).createTable(name, file, mode, []);
}

/** The schema as an Arrow IPC file without rows. */
export async function readIpcSchema(table: AnyTable): Promise<Buffer> {
  return await nativeTable(table).schema();
}

export function nativeTable(table: AnyTable): NativeTable {
  return "inner" in table ? (table.inner as NativeTable) : (table as NativeTable);
}

function nativeDatabase(db: Connection | NativeDatabase): NativeDatabase {
  return "inner" in db ? (db.inner as NativeDatabase) : (db as NativeDatabase);
}

/** The package's table on a native one, for the methods in which the package does more than the binding. */
export function packageTable(table: NativeTable): EngineTable {
  const { LocalTable } = fileOfPackage("table.js") as { readonly LocalTable: new (table: NativeTable) => EngineTable };
  return new LocalTable(table);
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
