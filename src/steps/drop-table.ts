import { z } from "zod";
import { defineStep, tableName } from "./step.ts";

/**
 * Drops a table with its rows.
 *
 * @example
 * dropTable("drafts")
 */
export const dropTable = defineStep({
  kind: "dropTable",
  fields: z.object({ table: tableName }),
  build: (table: string) => ({ table }),
  compile: ({ table }) => [{ kind: "dropTable", table }],
});
