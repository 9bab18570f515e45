/** Indexes by the names that the REST protocol gives to their kinds. */
import { loadEngine, type EngineTable } from "./engine.ts";

/** The builder of each kind. */
const builders = {
  IVF_FLAT: "ivfFlat",
  IVF_PQ: "ivfPq",
  IVF_RQ: "ivfRq",
  IVF_HNSW_PQ: "hnswPq",
  IVF_HNSW_SQ: "hnswSq",
  HNSW_PQ: "hnswPq",
  HNSW_SQ: "hnswSq",
  BTREE: "btree",
  BITMAP: "bitmap",
  LABEL_LIST: "labelList",
  FM: "fm",
  FTS: "fts",
} as const;

export type IndexKind = keyof typeof builders;
// Object.keys forgets the names; they are these.
export const indexKinds = Object.keys(builders) as readonly IndexKind[];

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
  const build = Index[builders[request.kind]] as (options: IndexRequest["options"]) => ReturnType<typeof Index.btree>;
  const { column, name, replace = true } = request;
  await table.createIndex(column, { config: build(request.options), replace, name });
}
