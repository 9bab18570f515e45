import { createTable, utf8, vector } from "lance-migrate";

/** A dictionary. `embedding` is that of the definition, by embedders/hashing.ts. */
export const up = [
  createTable("entries", {
    id: utf8().notNull(),
    words: utf8(),
    definition: utf8(),
    embedding: vector(64),
  }),
];
