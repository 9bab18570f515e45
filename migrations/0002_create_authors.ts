import { createTable, int32, list, timestamp, utf8 } from "lance-migrate";

/** People; the two names were filled the wrong way round, which 0005 puts right. */
export const up = [
  createTable("authors", {
    id: int32().notNull(),
    first_name: utf8(),
    last_name: utf8(),
    joined: timestamp("ms", "UTC"),
    documents: list(int32()),
  }),
];
