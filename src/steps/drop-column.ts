import { z } from "zod";
import { valueSource } from "../schema/source.ts";
import { columnPath, defineStep, tableName } from "./step.ts";

/**
 * Drops a column, or a field of a struct, with its values.
 *
 * @example
 * dropColumn("documents", "source.fetched")
 */
export const dropColumn = defineStep({
  kind: "dropColumn",
  fields: z.object({ table: tableName, path: columnPath }),
  build: (table: string, path: string) => ({ table, path }),
  compile: ({ table, path }) => [{ kind: "dropColumns", table, paths: [path] }],
  source: ({ table, path }) => [table, path].map(valueSource),
  flags: [
    {
      name: "drop-column",
      describe: "drop a column with its values",
      form: "TABLE.COLUMN",
      read: (notation) => notation.column(),
    },
  ],
});
