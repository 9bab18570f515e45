import { z } from "zod";
import { defineStep, tableName } from "./step.ts";

/**
 * Renames a table, on a service that can.
 *
 * @example
 * renameTable("docs", "documents")
 */
export const renameTable = defineStep({
  kind: "renameTable",
  fields: z.object({ table: tableName, name: tableName }),
  build: (table: string, name: string) => ({ table, name }),
  compile: ({ table, name }) => [{ kind: "renameTable", table, name }],
});
