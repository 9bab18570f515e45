/** Creates indexes, and optimizes tables. */
import type { IndexKind } from "../schema/table-index.ts";
import { loadEngine, type EngineTable } from "./engine.ts";

interface IndexRequest {
  readonly column: string;
  readonly kind: IndexKind;
  readonly name?: string | undefined;
  readonly replace?: boolean | undefined;
  /** Named as in the engine's builders: numPartitions, withPosition … */
  readonly options: Readonly<Record<string, unknown>>;
}

/** Creates an index. Resolves when the index exists. */
export async function createIndex(table: EngineTable, request: IndexRequest): Promise<void> {
  const { Index } = loadEngine();
  // Each builder takes options of its own and ignores those that it does not know.
  const build = Index[request.kind] as (options: IndexRequest["options"]) => ReturnType<typeof Index.btree>;
  const { column, name, replace = true } = request;
  await table.createIndex(column, { config: build(request.options), replace, name });
}

/** Keeps all old versions: without a date, the engine would remove those older than a week. */
export const keepAll = { cleanupOlderThan: new Date(0) };

/** Returns the versions before and after, which others' commits may follow. */
export async function optimize(table: EngineTable): Promise<{ readonly before: number; readonly version: number }> {
  const before = await table.version();
  const isBehind = (await table.listIndices()).some(({ numUnindexedRows = 0 }) => numUnindexedRows > 0);
  const { compaction } = await table.optimize(keepAll);
  // A compaction reserves the numbers of its files in a version of its own.
  const made = (compaction.fragmentsRemoved > 0 ? 2 : 0) + (isBehind ? 1 : 0);
  return { before, version: before + made };
}
