import { z } from "zod";
import { valueSource } from "../schema/source.ts";
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
  source: ({ table, name }) => [table, name].map(valueSource),
  flags: [
    {
      name: "rename-table",
      describe: "rename a table, on a service that can",
      form: "TABLE:NAME",
      read(notation) {
        const table = notation.name();
        notation.expect(":");
        return { table, name: notation.name() };
      },
    },
  ],
});
