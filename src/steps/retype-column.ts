import { z } from "zod";
import type { NullableType } from "../schema/builders.ts";
import { columnPath, dataType, defineStep, tableName, typeOf } from "./step.ts";

/**
 * Casts a column to another type of its family; rewrites that column.
 *
 * @example
 * retypeColumn("documents", "id", int64())
 */
export const retypeColumn = defineStep({
  kind: "retypeColumn",
  fields: z.object({ table: tableName, path: columnPath, type: dataType }),
  build: (table: string, path: string, type: NullableType) => ({ table, path, type: typeOf(type) }),
  compile: ({ table, path, type }) => [{ kind: "alterColumns", table, alterations: [{ path, type }] }],
});
