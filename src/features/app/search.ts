/** Searches with the model that the column has. */
import type { Table, VectorQuery } from "@lancedb/lancedb";
import { embed, isSameModel, look, type Models } from "./column-model.ts";

export interface SearchOptions<Query> {
  /** They get the query in the place of a row. */
  readonly models: Models<Query>;
  readonly signal?: AbortSignal;
}

/**
 * Embeds a query with the model that `column` has, and has `run` search with it. If the column is switched before the
 * results are there, it embeds and searches again.
 */
export async function search<Query, Found>(
  table: Table,
  column: string,
  query: Query,
  { models, signal }: SearchOptions<Query>,
  run: (found: VectorQuery) => Promise<Found>,
): Promise<Found> {
  for (;;) {
    const seen = await look(table, column);
    const [vector] = await embed([query], seen, { column, models, signal });
    const searching = Promise.resolve(run(table.query().nearestTo(vector!).column(column)));
    const outcome = await searching.then(
      (found) => ({ found }),
      (error: unknown) => ({ error }),
    );
    if (!isSameModel(seen, await look(table, column))) continue;
    if ("error" in outcome) throw outcome.error;
    return outcome.found;
  }
}
