/** Queries and searches. Their results stay in the form in which the engine returns them: Arrow IPC files. */
import type { FullTextQuery } from "@lancedb/lancedb";
import type { Column } from "../schema/data-type.ts";
import { nativeTable, type AnyTable } from "./engine.ts";

export type { FullTextQuery };

export interface Search {
  readonly filter?: string | undefined;
  /** Column names, or pairs of a name and an SQL expression. */
  readonly columns?: readonly string[] | readonly (readonly [string, string])[] | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly orderBy?: readonly Ordering[] | undefined;
  readonly withRowId?: boolean | undefined;
  readonly fastSearch?: boolean | undefined;
  /** As a person types it, or an object of the engine's classes for queries. */
  readonly text?: TypedText | FullTextQuery | undefined;
  readonly nearest?: VectorSearch | undefined;
}

export interface TypedText {
  /** In quotes, it is a phrase. */
  readonly query: string;
  /** All that have an index for full text, if absent. */
  readonly columns?: readonly string[] | undefined;
}

interface Ordering {
  readonly columnName: string;
  readonly ascending: boolean;
  readonly nullsFirst: boolean;
}

export interface VectorSearch {
  /** One search runs for each vector. */
  readonly vectors: readonly (readonly number[])[];
  readonly column?: string | undefined;
  readonly distanceType?: string | undefined;
  readonly minimumNprobes?: number | undefined;
  /** 0 means as many as it takes. */
  readonly maximumNprobes?: number | undefined;
  readonly nprobes?: number | undefined;
  readonly lowerBound?: number | undefined;
  readonly upperBound?: number | undefined;
  readonly ef?: number | undefined;
  readonly refineFactor?: number | undefined;
  readonly bypassIndex?: boolean | undefined;
  /** Filters what was found instead of what is searched. */
  readonly postfilter?: boolean | undefined;
}

// The binding, which the package exports only as the types of its constructors.
type NativeQuery = ReturnType<ReturnType<typeof nativeTable>["query"]>;
type NativeVectorQuery = ReturnType<NativeQuery["nearestTo"]>;
type NativeBatches = Awaited<ReturnType<NativeQuery["execute"]>>;

export interface QueryAnswer {
  /** An Arrow IPC file with the first record batch, or without a batch if nothing was found. */
  readonly first: Buffer;
  readonly others: AsyncIterable<Buffer>;
}

/** How the engine would perform a search, as text. */
export async function explain(table: AnyTable, search: Search, verbose: boolean): Promise<string> {
  return await prepare(nativeTable(table).query(), search).explainPlan(verbose);
}

/** Performs a search; gives how the engine did it and what each part took, as text. */
export async function analyze(table: AnyTable, search: Search): Promise<string> {
  return await prepare(nativeTable(table).query(), search).analyzePlan();
}

/** The columns of a search's result, without running it. */
export async function resultColumns(table: AnyTable, search: Search): Promise<readonly Column[]> {
  const { tableFromIpc } = await import("../wire/arrow/arrow-schema.ts"); // Arrow is slow to load
  return tableFromIpc(await prepare(nativeTable(table).query(), search).outputSchema()).columns;
}

/** Runs a search. Problems of the search are thrown here, not while the other batches are read. */
export async function search(table: AnyTable, search: Search): Promise<QueryAnswer> {
  const query = prepare(nativeTable(table).query(), search);
  const batches = await query.execute();
  const first = await batches.next();
  return { first: first ?? (await query.outputSchema()), others: first === null ? nothing() : rest(batches) };
}

export async function* eachFile({ first, others }: QueryAnswer): AsyncGenerator<Buffer> {
  yield first;
  yield* others;
}

export async function allFiles(found: QueryAnswer): Promise<readonly Buffer[]> {
  const files: Buffer[] = [];
  for await (const file of eachFile(found)) files.push(file);
  return files;
}

/** Counts rows that match until there are as many. A search stops there, and `countRows` reads the column of every row. */
export async function countUpTo(most: number, table: AnyTable, filter?: string): Promise<number> {
  const { rowsInFile } = await import("../wire/arrow/ipc-file.ts"); // Arrow is slow to load
  const found = await search(table, { filter, columns: [], withRowId: true, limit: most });
  let rows = 0;
  for await (const file of eachFile(found)) rows += rowsInFile(file);
  return rows;
}

async function* rest(batches: NativeBatches): AsyncGenerator<Buffer> {
  for (let batch = await batches.next(); batch !== null; batch = await batches.next()) yield batch;
}

async function* nothing(): AsyncGenerator<Buffer> {}

function prepare(plain: NativeQuery, search: Search): NativeQuery | NativeVectorQuery {
  const query = search.nearest === undefined ? plain : near(plain, search.nearest);
  const { filter, columns, limit, offset, orderBy, text } = search;
  if (filter !== undefined) query.onlyIf(filter);
  if (text !== undefined) query.fullTextSearch(nativeText(text));
  if (columns !== undefined) select(query, columns);
  if (limit !== undefined) query.limit(limit);
  if (offset !== undefined) query.offset(offset);
  if (orderBy !== undefined) query.orderBy([...orderBy]);
  if (search.withRowId === true) query.withRowId();
  if (search.fastSearch === true) query.fastSearch();
  return query;
}

function nativeText(text: TypedText | FullTextQuery): object {
  // The classes hold the binding's object, which their types leave out.
  if ("queryType" in text) return { query: (text as unknown as { readonly inner: object }).inner };
  return { query: text.query, columns: text.columns ?? null };
}

function select(query: NativeQuery | NativeVectorQuery, columns: NonNullable<Search["columns"]>): void {
  const names = columns.filter((column) => typeof column === "string");
  const pairs = columns.filter((column) => typeof column !== "string");
  if (pairs.length === 0) query.selectColumns(names);
  else query.select(pairs.map(([name, expression]) => [name, expression]));
}

function near(plain: NativeQuery, nearest: VectorSearch): NativeVectorQuery {
  const [first = [], ...others] = nearest.vectors;
  const query = plain.nearestTo(Float32Array.from(first));
  for (const vector of others) query.addQueryVector(Float32Array.from(vector));
  const { column, distanceType, lowerBound, upperBound, ef, refineFactor } = nearest;
  if (column !== undefined) query.column(column);
  if (distanceType !== undefined) query.distanceType(distanceType);
  probe(query, nearest);
  if (lowerBound !== undefined || upperBound !== undefined) query.distanceRange(lowerBound, upperBound);
  if (ef !== undefined) query.ef(ef);
  if (refineFactor !== undefined) query.refineFactor(refineFactor);
  if (nearest.bypassIndex === true) query.bypassVectorIndex();
  if (nearest.postfilter === true) query.postfilter();
  return query;
}

function probe(query: NativeVectorQuery, { nprobes, minimumNprobes, maximumNprobes }: VectorSearch): void {
  if (nprobes !== undefined && minimumNprobes === undefined) query.nprobes(nprobes);
  if (minimumNprobes === undefined && maximumNprobes === undefined) return;
  // The engine checks the bound that is set first against the other's default, so the maximum is lifted (0) first.
  query.maximumNprobes(0);
  if (minimumNprobes !== undefined) query.minimumNprobes(minimumNprobes);
  if (maximumNprobes !== undefined && maximumNprobes !== 0) query.maximumNprobes(maximumNprobes);
}
