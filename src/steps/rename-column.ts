import { z } from "zod";
import { columnPath, defineStep, tableName } from "./step.ts";

/**
 * Renames a column or a nested field: metadata only. The new name is the last part alone, without the path.
 *
 * @example
 * renameColumn("documents", "source.fetched", "fetched_at")
 */
export const renameColumn = defineStep({
  kind: "renameColumn",
  fields: z.object({ table: tableName, path: columnPath, name: z.string("has to be the new name") }),
  build: (table: string, path: string, name: string) => ({ table, path, name }),
  compile: ({ table, path, name }) => [{ kind: "alterColumns", table, alterations: [{ path, rename: name }] }],
});
