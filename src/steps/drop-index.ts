import { z } from "zod";
import { valueSource } from "../schema/source.ts";
import { defineStep, ownName, tableName } from "./step.ts";

/**
 * Drops an index by its name; the column stays.
 *
 * @example
 * dropIndex("documents", "id_idx")
 */
export const dropIndex = defineStep({
  kind: "dropIndex",
  fields: z.object({ table: tableName, name: ownName("an index") }),
  build: (table: string, name: string) => ({ table, name }),
  compile: ({ table, name }) => [{ kind: "dropIndex", table, name }],
  source: ({ table, name }) => [table, name].map(valueSource),
  flags: [
    {
      name: "drop-index",
      describe: "drop an index",
      form: "TABLE:NAME",
      read(notation) {
        const table = notation.name();
        notation.expect(":");
        return { table, name: notation.name() };
      },
    },
  ],
});
