/**
 * Writes after which the engine may not be able to use a table. What was written is checked, and undone if need be.
 *
 * - A drop of columns also drops the last column that some rows have in their files, after which no scan of the table
 *   works. In older file formats it drops a whole list together with a field of its items.
 * - Rows with lists in structs may be written to files that can't be read (docs/internals/engine.md, "Lists in structs").
 * - Metadata names how JSON, blobs and other extensions are stored. If it no longer does, no row of the table can be read.
 */
import { tableAfter } from "../actions/apply-action.ts";
import { childColumns, sameColumns, type Column, type DataType } from "../schema/data-type.ts";
import { withoutMetadata } from "../schema/metadata.ts";
import { formatPath } from "../schema/path.ts";
import { specialStorage } from "../schema/reserved-metadata.ts";
import { sqlPath } from "../schema/sql.ts";
import { columnsWithin } from "../schema/table.ts";
import { isComputed } from "../wire/arrow/computed-column.ts";
import { packageTable, nativeTable, readColumns, type AnyTable, type EngineTable } from "./engine.ts";
import { search, type Search } from "./query.ts";

/**
 * The write was undone, because the table could not have been used after it. `reason` is the cause alone, without what
 * was done about it.
 */
export class WriteRefused extends Error {
  readonly reason: string;

  constructor(reason: string, remedy: string) {
    super(`${reason} (${remedy})`);
    this.reason = reason;
  }
}

/**
 * Gives the new version. Throws WriteRefused if the version before was restored, and a plain Error if others have
 * committed since the drop, so that nothing was restored.
 */
export async function dropColumns(table: EngineTable, paths: readonly string[]): Promise<number> {
  const [before, columns] = [await table.version(), await readColumns(table)];
  const { version } = await table.dropColumns([...paths]);
  const problem = await problemAfterDrop(table, paths, columns, version === before + 1);
  if (problem !== undefined) throw await undo(table, { before: version - 1, version }, problem);
  return version;
}

interface WrittenVersions {
  /** The version that it made. */
  readonly version: number;
  /** The version before it, if it made several. */
  readonly before?: number;
}

interface VersionsAround extends WrittenVersions {
  readonly before: number;
}

/** Writes rows to a table with these columns. Throws like `dropColumns` if its rows can't be read after that. */
export async function writeReadably<Result extends WrittenVersions>(
  table: AnyTable,
  columns: readonly Column[],
  write: () => Promise<Result>,
): Promise<Result> {
  const lists = columnsAtRisk(columns);
  if (lists.length === 0) return await write();
  return await checked(table, write, { columns: lists }, unreadableLists(lists));
}

/** The columns that a merge of files may make unreadable. Such a commit is undone, unless another one follows it at once. */
export function columnsAtRisk(columns: readonly Column[]): readonly string[] {
  return columns.filter(({ type }) => hasListInStruct(type)).map(({ name }) => name);
}

/** Changes columns of such a table, or their metadata. The same for what the engine stores otherwise than its type. */
export async function alterReadably(
  table: AnyTable,
  columns: readonly Column[],
  alter: () => Promise<number>,
): Promise<number> {
  const special = columnsWithin(columns).find(({ column }) => specialStorage(column.metadata) !== undefined);
  if (special === undefined) return await alter();
  const stored = `${formatPath(special.path)} as ${specialStorage(special.column.metadata)}`;
  const problem = `the engine can't read the table after that, because it stores ${stored}`;
  return (await checked(table, async () => ({ version: await alter() }), { limit: 1 }, problem)).version;
}

async function checked<Result extends WrittenVersions>(
  table: AnyTable,
  write: () => Promise<Result>,
  reading: Pick<Search, "columns" | "limit">,
  problem: string,
): Promise<Result> {
  const written = await write();
  const { version, before = version - 1 } = written;
  if (before === version || (await canRead(table, reading))) return written;
  const handle = packageTable(nativeTable(table));
  await handle.checkout(before);
  const wasReadable = await canRead(handle, reading);
  await handle.checkoutLatest();
  // If it was not readable, others have written what can't be read. A store that did not answer once is not a reason either.
  if (!wasReadable || (await canRead(handle, reading))) return written;
  throw await undo(handle, { before, version }, problem);
}

/**
 * Whether the engine can read these columns, or all, of all rows, or of the first ones. A count would not read the lists in
 * a struct that is not null.
 */
async function canRead(table: AnyTable, what: Pick<Search, "columns" | "limit">): Promise<boolean> {
  try {
    const { others } = await search(table, what);
    for await (const _ of others);
    return true;
  } catch {
    return false;
  }
}

function hasListInStruct(type: DataType, isInStruct = false): boolean {
  if (isInStruct && (type.kind === "list" || type.kind === "largeList")) return true;
  return childColumns(type).some((child) => hasListInStruct(child.type, isInStruct || type.kind === "struct"));
}

function unreadableLists(columns: readonly string[]): string {
  return `the engine can't read ${columns.join(", ")} after that: long values in lists, lists that are null and structs that are null come together in one file; give these rows empty lists instead of null`;
}

/** Restores the version before a write, unless others have committed since. Gives the error. */
async function undo(table: EngineTable, { before, version }: VersionsAround, problem: string): Promise<Error> {
  await table.checkoutLatest();
  const newest = await table.version();
  // This run may have been suspended meanwhile: a restore would discard what others have written or restored since.
  if (newest !== version) return new Error(`${problem} (${leftBy(before, newest)})`);
  await table.checkout(before);
  await table.restore();
  const last = (await table.version()) - 1;
  const since = last === version ? "" : `; version ${last} has what others wrote meanwhile, and is not readable`;
  return new WriteRefused(problem, `version ${before} was restored${since}`);
}

function leftBy(before: number, newest: number): string {
  return `others have committed since, up to version ${newest}, so nothing was restored: if the table can't be read, restore version ${before} and write again what came later`;
}

async function problemAfterDrop(
  table: EngineTable,
  paths: readonly string[],
  before: readonly Column[],
  isAlone: boolean,
): Promise<string | undefined> {
  const drop = { kind: "dropColumns", table: "t", paths } as const;
  const { columns: left } = tableAfter(new Map([["t", { columns: before }]]), drop);
  const plain = (columns: readonly Column[]) => columns.map(withoutMetadata);
  // If others have committed meanwhile, a difference may be their change.
  if (isAlone && !sameColumns(plain(left), plain(await readColumns(table))))
    return "in the file format of this table the engine would drop more than that; recreate the column with retypeColumn's using";
  try {
    await table.countRows();
    return undefined;
  } catch {
    return `some rows have values of no other column, and without them the engine could not read the table any more; ${wayOut(left)}`;
  }
}

/** How to give these rows a value in another column, which may be null. */
function wayOut(left: readonly Column[]): string {
  const other = left.find((column) => !isComputed(column));
  if (other === undefined)
    return `compute the values of another column first: refreshColumn for ${JSON.stringify(left[0]!.name)}`;
  const name = sqlPath([other.name]);
  const [key, where] = [name, `${name} is null`].map((text) => JSON.stringify(text));
  return `write another column first: execute with { update: { ${key}: "null" }, where: ${where} }`;
}
