import { createTable, float32, int32, struct, utf8, vector } from "lance-migrate";

/** Documents with an embedding to search by. */
export const up = [
  createTable("documents", {
    id: int32().notNull(),
    title: utf8(),
    source: struct({ url: utf8(), fetched: utf8() }),
    score: float32(),
    embedding: vector(8),
  }),
];
