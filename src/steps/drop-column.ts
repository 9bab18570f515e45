import { z } from "zod";
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
});
