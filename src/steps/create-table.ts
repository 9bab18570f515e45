import { z } from "zod";
import { columnsOf, type ColumnType } from "../schema/builders.ts";
import { column } from "../schema/parse.ts";
import { defineStep, tableName } from "./step.ts";

/**
 * Creates an empty table with its columns in this order; JavaScript puts names that are whole numbers first.
 *
 * @example
 * createTable("documents", { id: int64().notNull(), title: utf8(), embedding: vector(768) })
 */
export const createTable = defineStep({
  kind: "createTable",
  fields: z.object({
    table: tableName,
    columns: z.array(column, "has to be an object of columns").min(1, "has to have at least one column"),
  }),
  build: (table: string, columns: Readonly<Record<string, ColumnType>>) => ({ table, columns: columnsOf(columns) }),
  compile: ({ table, columns }) => [{ kind: "createTable", table, columns }],
});
