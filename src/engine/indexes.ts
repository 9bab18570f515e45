/** Making indexes. */
import type { IndexKind } from "../schema/table-index.ts";
import { loadEngine, type EngineTable } from "./engine.ts";

export interface IndexRequest {
  readonly column: string;
  readonly kind: IndexKind;
  readonly name?: string | undefined;
  readonly replace?: boolean | undefined;
  /** As the engine's builders name them: numPartitions, withPosition … */
  readonly options: Readonly<Record<string, unknown>>;
}

/** Creates an index and comes back when it is there. */
export async function createIndex(table: EngineTable, request: IndexRequest): Promise<void> {
  const { Index } = loadEngine();
  // Each takes options of its own and passes over what it does not know.
  const build = Index[request.kind] as (options: IndexRequest["options"]) => ReturnType<typeof Index.btree>;
  const { column, name, replace = true } = request;
  await table.createIndex(column, { config: build(request.options), replace, name });
}
