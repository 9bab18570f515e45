import { z } from "zod";
import { columnPath, defineStep, tableName } from "./step.ts";

/** Lets a column hold nulls (`true`) or refuses them (`false`, which fails while the column holds one). */
export const setNullable = defineStep({
  kind: "setNullable",
  fields: z.object({ table: tableName, path: columnPath, nullable: z.boolean("has to be true or false") }),
  build: (table: string, path: string, nullable: boolean) => ({ table, path, nullable }),
  compile: ({ table, path, nullable }) => [{ kind: "alterColumns", table, alterations: [{ path, nullable }] }],
});
