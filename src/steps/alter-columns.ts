import { z } from "zod";
import type { NullableType } from "../schema/builders.ts";
import { columnPath, dataType, defineStep, tableName, typeOf } from "./step.ts";

/** One change of `alterColumns`: a path and at least one of the three. */
export type ColumnChange = { readonly path: string } & (
  | { readonly rename: string; readonly type?: NullableType; readonly nullable?: boolean }
  | { readonly rename?: string; readonly type: NullableType; readonly nullable?: boolean }
  | { readonly rename?: string; readonly type?: NullableType; readonly nullable: boolean }
);

/**
 * Several changes of one table in one atomic call. Every path means the table as it is before the call, so two names
 * can be swapped.
 *
 * @example
 * alterColumns("documents", [{ path: "a", rename: "b" }, { path: "b", rename: "a" }])
 */
export const alterColumns = defineStep({
  kind: "alterColumns",
  fields: z.object({
    table: tableName,
    alterations: z
      .array(
        z
          .strictObject(
            {
              path: columnPath,
              rename: z.string("has to be the new name").optional(),
              type: dataType.optional(),
              nullable: z.boolean("has to be true or false").optional(),
            },
            "has to be an object with a path",
          )
          .refine(
            ({ rename, type, nullable }) => rename !== undefined || type !== undefined || nullable !== undefined,
            "has to have one of rename, type and nullable",
          ),
        "has to be a list of changes",
      )
      .min(1, "has to have at least one change"),
  }),
  build: (table: string, alterations: readonly ColumnChange[]) => ({
    table,
    alterations: Array.isArray(alterations) ? alterations.map(withType) : alterations,
  }),
  compile: ({ table, alterations }) => [{ kind: "alterColumns", table, alterations }],
});

function withType(change: ColumnChange): unknown {
  return change?.type === undefined ? change : { ...change, type: typeOf(change.type) ?? null };
}
