import { z } from "zod";
import { valueSource } from "../schema/source.ts";
import { columnPath, defineStep, tableName } from "./step.ts";

/** Lets a column hold nulls (`true`) or refuses them (`false`, which fails while the column holds one). */
export const setNullable = defineStep({
  kind: "setNullable",
  fields: z.object({ table: tableName, path: columnPath, nullable: z.boolean("has to be true or false") }),
  build: (table: string, path: string, nullable: boolean) => ({ table, path, nullable }),
  compile: ({ table, path, nullable }) => [{ kind: "alterColumns", table, alterations: [{ path, nullable }] }],
  source: ({ table, path, nullable }) => [table, path, nullable].map(valueSource),
  flags: [
    {
      name: "nullable",
      describe: "let a column hold nulls",
      form: "TABLE.COLUMN",
      read: (notation) => ({ ...notation.column(), nullable: true }),
    },
    {
      name: "not-null",
      describe: "refuse nulls in a column",
      form: "TABLE.COLUMN",
      read: (notation) => ({ ...notation.column(), nullable: false }),
    },
  ],
});
