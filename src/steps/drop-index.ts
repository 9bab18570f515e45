import { z } from "zod";
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
});
