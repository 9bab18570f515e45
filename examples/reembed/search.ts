/**
 * The application: a dictionary that finds words by a description. This release knows both models, and uses the one whose
 * vectors the column has. So you deploy it before the migration, and it keeps running while the column changes.
 */
import type { Table } from "@lancedb/lancedb";
import type { Entry } from "./corpus.ts";
import hashing from "./embedders/hashing.ts";
import wink from "./embedders/wink.ts";

/** By the number of dimensions. */
const models = new Map([
  [64, hashing],
  [100, wink],
]);

export async function search(table: Table, description: string, limit: number): Promise<Entry[]> {
  const embed = await currentModel(table);
  const [vector] = embed([{ definition: description }]);
  const query = table.vectorSearch(vector!).column("embedding").nprobes(16).refineFactor(10).limit(limit);
  return (await query.select(["words", "definition", "_distance"]).toArray()) as Entry[];
}

export async function add(table: Table, entries: readonly Entry[]): Promise<void> {
  const embed = await currentModel(table);
  const vectors = embed(entries);
  await table.add(entries.map((entry, index) => ({ ...entry, embedding: vectors[index]! })));
}

async function currentModel(table: Table): Promise<typeof wink> {
  await table.checkoutLatest();
  const { fields } = await table.schema();
  const column = fields.find(({ name }) => name === "embedding")!;
  return models.get((column.type as { readonly listSize: number }).listSize)!;
}
