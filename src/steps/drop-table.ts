import { z } from "zod";
import { valueSource } from "../schema/source.ts";
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
  source: ({ table }) => [valueSource(table)],
  flags: [
    {
      name: "drop-table",
      describe: "drop a table with its rows",
      form: "TABLE",
      read: (notation) => ({ table: notation.name() }),
    },
  ],
});
