import { addColumn, alterColumns, backfillColumn, createIndex, ivfFlat, vector } from "lance-migrate";

/** Replaces the embeddings, and keeps the old ones as `embedding_old`. */
export const up = [
  addColumn("entries", "embedding_new", vector(100)),
  backfillColumn("entries", "embedding_new", {
    from: ["definition"],
    key: "id",
    with: "./embedders/wink.ts",
    version: "1",
    batch: 1_000,
  }),
  createIndex("entries", "embedding_new", ivfFlat({ numPartitions: 64 })),
  alterColumns("entries", [
    { path: "embedding", rename: "embedding_old" },
    { path: "embedding_new", rename: "embedding" },
  ]),
];
