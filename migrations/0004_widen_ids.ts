import { int64, list, retypeColumn } from "lance-migrate";

/** More documents than 32 bits can number: widening loses nothing. */
export const up = [
  retypeColumn("documents", "id", int64()),
  retypeColumn("authors", "id", int64()),
  retypeColumn("authors", "documents", list(int64())),
];
