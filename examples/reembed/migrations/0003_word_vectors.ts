import { ivfFlat, reembedColumn, vector } from "lance-migrate";

export const up = [
  reembedColumn("entries", "embedding", {
    type: vector(100),
    from: ["definition"],
    key: "id",
    with: "./embedders/wink.ts",
    version: "1",
    index: ivfFlat({ numPartitions: 64 }),
    minRecall: 0.95,
    batch: 1_000,
  }),
];
