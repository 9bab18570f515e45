/** The embedding model that a column has, and the vectors of that model. */
import type { Table } from "@lancedb/lancedb";

/** Metadata of a column: the version of the code that has computed its vectors, such as "bge-m3". */
export const modelKey = "lance_migrate_version";

type ModelVectors = readonly Iterable<number>[];

/** Gives one vector for each row. Code of `reembedColumn` is such a function. */
export type Embed<Row> = (rows: Row[], context: { signal: AbortSignal }) => ModelVectors | Promise<ModelVectors>;

/**
 * The models that a release knows, by the version that their migration states. No version names the model of a column that
 * no migration has computed: its key is "", or the number of its dimensions.
 */
export type Models<Row> = Readonly<Record<string, Embed<Row>>>;

/** What a write or a search relies on. */
export interface SeenColumn {
  readonly schema: Awaited<ReturnType<Table["schema"]>>;
  readonly version: string | undefined;
  readonly dimensions: number;
}

/** Looks at the newest version of the table. */
export async function look(table: Table, column: string): Promise<SeenColumn> {
  await table.checkoutLatest();
  const schema = await table.schema();
  const field = schema.fields.find(({ name }) => name === column);
  if (field === undefined) throw new Error(`The table ${table.name} has no column ${column}.`);
  const { listSize } = field.type as { readonly listSize?: number };
  if (listSize === undefined) throw new Error(`The column ${column} of ${table.name} does not hold vectors.`);
  return { schema, version: field.metadata.get(modelKey), dimensions: listSize };
}

/** Whether the column has the same model. Two models may have the same number of dimensions. */
export function isSameModel(one: SeenColumn, other: SeenColumn): boolean {
  return one.version === other.version && one.dimensions === other.dimensions;
}

/** The version of the model that the column has now; undefined if no migration has computed it. */
export async function modelOf(table: Table, column: string): Promise<string | undefined> {
  return (await look(table, column)).version;
}

interface Embedding<Row> {
  readonly column: string;
  readonly models: Models<Row>;
  readonly signal: AbortSignal | undefined;
}

/** Embeds rows with the model that was seen. */
export async function embed<Row>(
  rows: readonly Row[],
  { version, dimensions }: SeenColumn,
  { column, models, signal = new AbortController().signal }: Embedding<Row>,
): Promise<number[][]> {
  const keys = version === undefined ? ["", String(dimensions)] : [version];
  const key = keys.find((one) => Object.hasOwn(models, one));
  const model = version === undefined ? `of ${dimensions} dimensions without a version` : JSON.stringify(version);
  if (key === undefined) {
    const known = Object.keys(models).map((one) => JSON.stringify(one));
    throw new Error(`The column ${column} has the model ${model}. The known models are: ${known.join(", ")}.`);
  }
  const vectors = (await models[key]!([...rows], { signal })).map((vector) => Array.from(vector));
  signal.throwIfAborted();
  if (vectors.length !== rows.length)
    throw new Error(`The model ${model} has returned ${vectors.length} vectors for ${rows.length} rows.`);
  const other = vectors.find(({ length }) => length !== dimensions);
  if (other !== undefined)
    throw new Error(
      `The model ${model} has returned a vector of ${other.length} numbers. The column ${column} holds vectors of ${dimensions}.`,
    );
  return vectors;
}
