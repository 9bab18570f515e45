import { alterColumns, float64, largeUtf8, retypeColumn } from "lance-migrate";

/** Scores in double precision under a better name, and addresses longer than 2 GB in all. */
export const up = [
  alterColumns("documents", [{ path: "score", rename: "relevance", type: float64() }]),
  retypeColumn("documents", "source.url", largeUtf8()),
];
