/** The client for JavaScript: performs a query on a table of a folder or of a service. */
import type { FullTextQuery, Table, VectorQuery } from "@lancedb/lancedb";
import { loadEngine } from "../../src/engine/engine.ts";
import type { Answer, Found, Nearest, Query, Text } from "./query.ts";

const lancedb = loadEngine();

type ArrowTable = Awaited<ReturnType<ReturnType<Table["query"]>["toArrow"]>>;

/** A client that keeps its tables open. */
export function clientFor(uri: string, options: object) {
  const opened = new Map<string, Promise<Table>>();
  // A connection for each: the tables of one name that a connection to a service opens share what is checked out.
  const open = async ({ table: name, version }: Query) => {
    const table = await (await lancedb.connect(uri, options)).openTable(name);
    if (version !== undefined) await table.checkout(version);
    return table;
  };
  return async (query: Query): Promise<Answer> => {
    const key = `${query.table} ${query.version}`;
    if (!opened.has(key)) opened.set(key, open(query));
    try {
      return await ask(await opened.get(key)!, query);
    } catch (error) {
      return { error: String(error) };
    }
  };
}

async function ask(table: Table, query: Query): Promise<Found> {
  if (query.what === "count")
    return { columns: [["count", "number"]], rows: [[String(await table.countRows(query.filter))]] };
  return foundIn(await builderOf(table, query).then((builder) => builder.toArrow()));
}

async function builderOf(table: Table, query: Query): Promise<{ toArrow(): Promise<ArrowTable> }> {
  const places = [...(query.places ?? [])];
  if (query.what !== "rows") {
    const taken = query.what === "rowIds" ? table.takeRowIds(places) : table.takeOffsets(places);
    select(taken, query);
    if (query.withRowId === true) taken.withRowId();
    return taken;
  }
  const plain = table.query();
  const builder = query.nearest === undefined ? plain : near(plain.nearestTo(vectorsOf(query.nearest)[0]!), query);
  if (query.filter !== undefined) builder.where(query.filter);
  if (query.text !== undefined) {
    const { text, textColumns } = query;
    const options = textColumns === undefined ? undefined : { columns: [...textColumns] };
    builder.fullTextSearch(typeof text === "string" ? text : textQuery(text), options);
  }
  select(builder, query);
  if (query.limit !== undefined) builder.limit(query.limit);
  if (query.offset !== undefined) builder.offset(query.offset);
  if (query.orderBy !== undefined)
    builder.orderBy(query.orderBy.map(({ column, ...direction }) => ({ columnName: column, ...direction }) as never));
  if (query.withRowId === true) builder.withRowId();
  if (query.fastSearch === true) builder.fastSearch();
  if (query.rerank === true) (builder as VectorQuery).rerank(await lancedb.rerankers.RRFReranker.create());
  return builder;
}

function select(
  builder: { select(columns: string[] | Map<string, string>): unknown },
  { columns, expressions }: Query,
): void {
  if (columns !== undefined) builder.select([...columns]);
  if (expressions !== undefined) builder.select(new Map(expressions));
}

/** A Float64Array aborts the process now and then: the client passes its bytes on without regard to their alignment. */
function vectorsOf({ vectors, type }: Nearest): readonly (number[] | Uint8Array)[] {
  return vectors.map((vector) => (type === "uint8" ? Uint8Array.from(vector) : [...vector]));
}

function near(builder: VectorQuery, { nearest, postfilter }: Query): VectorQuery {
  const given = nearest!;
  for (const vector of vectorsOf(given).slice(1)) builder.addQueryVector(vector);
  if (given.column !== undefined) builder.column(given.column);
  if (given.distanceType !== undefined) builder.distanceType(given.distanceType as "l2");
  if (given.nprobes !== undefined) builder.nprobes(given.nprobes);
  if (given.minimumNprobes !== undefined) builder.minimumNprobes(given.minimumNprobes);
  if (given.maximumNprobes !== undefined) builder.maximumNprobes(given.maximumNprobes);
  if (given.lower !== undefined || given.upper !== undefined) builder.distanceRange(given.lower, given.upper);
  if (given.ef !== undefined) builder.ef(given.ef);
  if (given.refineFactor !== undefined) builder.refineFactor(given.refineFactor);
  if (given.bypassIndex === true) builder.bypassVectorIndex();
  if (postfilter === true) builder.postfilter();
  return builder;
}

function textQuery(text: Exclude<Text, string>): FullTextQuery {
  const part = (one: Text) => textQuery(one as Exclude<Text, string>);
  switch (text.kind) {
    case "match":
      return new lancedb.MatchQuery(text.text, text.column, text.options as object);
    case "phrase":
      return new lancedb.PhraseQuery(text.text, text.column, { slop: text.slop } as object);
    case "boost":
      return new lancedb.BoostQuery(part(text.positive), part(text.negative), { negativeBoost: text.by } as object);
    case "multiMatch":
      return new lancedb.MultiMatchQuery(text.text, [...text.columns], text as object);
    case "boolean":
      return new lancedb.BooleanQuery(text.parts.map(([occur, one]) => [occur as never, part(one)]));
  }
}

function foundIn(table: ArrowTable): Found {
  const { fields } = table.schema;
  return {
    columns: fields.map((field) => [field.name, describe(field)]),
    rows: Array.from({ length: table.numRows }, (_, row) =>
      fields.map((_, column) => cellText(table.getChildAt(column)!.get(row))),
    ),
  };
}

function describe(field: ArrowTable["schema"]["fields"][number]): string {
  return `${field.type}${field.nullable ? "" : " not null"} ${JSON.stringify([...field.metadata])}`;
}

function cellText(cell: unknown): string {
  return JSON.stringify(cell, (_, value: unknown) => {
    if (typeof value === "bigint") return `${value}n`;
    if (typeof value === "number" && !Number.isFinite(value)) return String(value);
    if (Object.is(value, -0)) return "-0";
    return ArrayBuffer.isView(value) ? [...(value as Uint8Array)] : value;
  });
}
