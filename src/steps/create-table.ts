import { z } from "zod";
import { columnsOf, type ColumnType } from "../schema/builders.ts";
import { column, rows } from "../schema/parse.ts";
import type { RowValues } from "../schema/row-values.ts";
import { defineStep, tableName } from "./step.ts";

/**
 * Creates a table with its columns in this order, empty or with a few rows; JavaScript puts names that are whole numbers
 * first.
 *
 * @example
 * createTable("documents", { id: int64().notNull(), title: utf8(), embedding: vector(768) })
 * createTable("languages", { code: utf8().notNull(), name: utf8() }, { rows: [{ code: "en", name: "English" }] })
 */
export const createTable = defineStep({
  kind: "createTable",
  fields: z.object({
    table: tableName,
    columns: z.array(column, "has to be an object of columns").min(1, "has to have at least one column"),
    rows: rows.optional(),
  }),
  build: (
    table: string,
    columns: Readonly<Record<string, ColumnType>>,
    options: { readonly rows?: readonly RowValues[] } = {},
  ) => ({ table, columns: columnsOf(columns), ...options }),
  compile: ({ table, columns, rows: values }) => [
    { kind: "createTable", table, columns, ...(values === undefined ? {} : { rows: values }) },
  ],
});
