/**
 * The embedded engine, loaded when it is first needed: its connections and tables, its undocumented native binding, and
 * the meaning of its errors.
 */
import { createRequire } from "node:module";
import type { Connection, Table as EngineTable } from "@lancedb/lancedb";
import type { Alteration } from "../actions/model/alteration.ts";
import type { Column } from "../schema/data-type.ts";
import type { NewTables } from "../schema/table-format.ts";
import type { Table } from "../schema/table.ts";
import { textBefore } from "../errors/migrate-error.ts";
import { withoutKnownSecrets } from "../secrets/redact.ts";
import { toLanceType } from "../wire/lance/lance-type.ts";
import type { DatabaseLocation } from "./location.ts";
import { checkTableFolder } from "./folder/symbolic-links.ts";
import { storeProblem, type StoreProblem } from "./store-problem.ts";

export type { Connection, EngineTable };

type Engine = typeof import("@lancedb/lancedb");

// The binding behind the package's classes. The package's own alterColumns and createEmptyTable go through apache-arrow
// 18, which has no large_list and writes timestamps, times and durations in a form that the engine refuses.
type NativeTable = ConstructorParameters<Engine["Query"]>[0];
interface NativeConnection {
  createTable(name: string, file: Buffer, mode: "create" | "overwrite", namespace: string[]): Promise<unknown>;
}

/** Loads the engine. Its warnings about ordinary creates are silenced, unless the user has set a log level. */
export function loadEngine(): Engine {
  process.env.LANCE_LOG ??= "error";
  process.env.LANCEDB_LOG ??= "error";
  return createRequire(import.meta.url)("@lancedb/lancedb") as Engine;
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
  return await open(uri, { storageOptions, readConsistencyInterval }, session);
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
export async function openTable(
  db: Connection,
  name: string,
  folder: string | undefined,
): Promise<EngineTable | undefined> {
  checkTableFolder(folder, name);
  try {
    return await db.openTable(name);
  } catch (error) {
    // The binding gives every error the same code, so only the text tells them apart.
    if (plainProblem(error).startsWith(`Table '${name}' was not found`)) return undefined;
    throw error;
  }
}

/** Whether the engine threw the error: its errors carry napi's status as their code. */
export function isEngineError(thrown: unknown): boolean {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return (
    code === "GenericFailure" ||
    code === "InvalidArg" ||
    /^(String|Number|Array|Object|Boolean|Bigint)Expected$/.test(String(code))
  );
}

/** Whether a table can't be read because some of its rows have no column left in their files. */
export function isUnreadable(thrown: unknown): boolean {
  return /Fragment \d+ does not contain any data/.test(String(thrown));
}

/** Whether another commit came first. The same call on a fresh handle may succeed. */
export function isConflict(thrown: unknown): boolean {
  // The engine retries by itself. It reports the first pattern (without "Retryable") and the last one after other
  // commits came first at every try.
  return /Commit conflict for version|Incompatible transaction|preempted by|Too many concurrent writers/i.test(
    String(thrown),
  );
}

/** The engine's message for users: without source locations, and without the credentials of an object store. */
export function engineProblem(thrown: unknown): string {
  // This message lists everything that the engine has asked, as Rust prints it.
  if (String(thrown).includes("Failed to get AWS credentials"))
    return "no AWS credentials were found; set aws_access_key_id and aws_secret_access_key in storageOptions, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
  const store = storeProblemOf(thrown);
  if (store !== undefined) return store.sentence;
  const plain = plainProblem(thrown);
  const shorter = tooLong.reduce((text, [pattern, words]) => text.replace(pattern, words), plain);
  return withoutKnownSecrets(shorter);
}

/** The problem of a request to an object store, for users; undefined if the error is about something else. */
export function storeProblemOf(thrown: unknown): StoreProblem | undefined {
  // Secrets are removed first: part of one that is shortened would not be recognized.
  return isEngineError(thrown) ? storeProblem(withoutKnownSecrets(String(thrown))) : undefined;
}

/**
 * Parts of messages that describe the engine instead of the SQL it was given, or that give advice that does not apply;
 * each with its replacement.
 */
const tooLong: readonly (readonly [RegExp, string])[] = [
  [/ ?Column names are case sensitive\..*?enable_ident_normalization configuration\./, ""],
  [/Error parsing statement: SELECT .* \(sql parser error: (.*)\)$/, "the SQL can't be read: $1"],
  [
    /Physical plan does not support logical expression AggregateFunction.*/,
    "an aggregate such as sum or max can't stand here",
  ],
  [
    /.*Found unmasked nulls for non-nullable StructArray field ("[^"]*").*/,
    "rows that were deleted or updated since have left nulls of $1 in the table's files, and the engine reads them too: compact the table first (optimize)",
  ],
  [/ in schema Field\(.*/, ""],
  // Rust prints a type with all of its fields.
  [/(\w*List|Struct|Map)\(\[?Field \{.*\}\]?(, \w+)?\)/, "$1"],
  [/(Cannot cast column .* from (?:\w*List|Struct|Map))\(.*\) to /, "$1 to "],
  [/Unsupported data type: \w+\(.*\)\. /, "Unsupported data type. "],
  [/\.? {0,2}Received only dynamic expressions: .*/, "; an expression of constants alone is not enough"],
  [/^.*Invalid data for schema\. Field \{.*/, "the Arrow data has fewer columns than its schema"],
  [/^.*Unable to get root as footer: Utf8Error.*/, "a text in the schema of the Arrow data is not UTF-8"],
  [/^.*Unable to get root as footer.*/, "the schema of the Arrow data is not well-formed"],
  [
    /^Unable to find object store prefix: no Azure account name.*/,
    "no Azure account was given; set azure_storage_account_name in storageOptions",
  ],
  [/^Failed to connect to namespace: IO \{ source: Generic \{ store: "[^"]*", source: /, ""],
  [/\.$/, ""],
];

/** In characters: patterns take long on a message that repeats a name of a hundred thousand. */
const longestProblem = 8_000;

function clipped(text: string): string {
  return text.length <= longestProblem ? text : `${text.slice(0, 6_000)} … ${text.slice(-2_000)}`;
}

/** The first line of the engine's own message, without source locations and prefixes: for decisions, not for users. */
function plainProblem(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  const line = text.replace(/\.?\nDid you mean/, "; did you mean").split("\n", 1)[0] ?? "";
  return textBefore(clipped(line), /Caused by: |location: Location/)
    .replace(/, (location: )?\/[^,]*\.rs:\d+(:\d+)?/g, "")
    .replace(/(GenericFailure, )?lance error: /g, "")
    .replace(/LanceError\((\w+)\): /g, "")
    .replace(/(Generic N\/A error|Wrapped error|GenericFailure, External error): /g, "")
    .replace(/^((Invalid input|Invalid user input|Error parsing function|Error during planning)[:,] )+/, "")
    .trim();
}
