import { z } from "zod";
import { fieldsSource, optionsSource, valueSource } from "../schema/source.ts";
import { columnsOf, type Fields } from "../schema/builders.ts";
import { column, rows } from "../schema/parse.ts";
import type { RowValues } from "../schema/row-values.ts";
import type { NewTableArgument } from "../schema/typed/arguments.ts";
import type { WithTable } from "../schema/typed/database.ts";
import type { ShapesOf } from "../schema/typed/shape.ts";
import { defineStep, tableName, type CheckedStep, type StepDefinition } from "./step.ts";

const fields = z.object({
  table: tableName,
  columns: z.array(column, "has to be an object of columns").min(1, "has to have at least one column"),
  rows: rows.optional(),
});

interface CreateTable extends StepDefinition<"createTable", (typeof fields)["shape"]> {
  <Database, Table extends string, const Columns extends Fields>(
    table: NewTableArgument<NoInfer<Database>, Table>,
    columns: Columns,
    options?: { readonly rows?: readonly RowValues[] },
  ): CheckedStep<
    "createTable",
    z.output<typeof fields>,
    Database,
    WithTable<NoInfer<Database>, Table, { columns: ShapesOf<Columns>; indexes: {} }>
  >;
}

/**
 * Creates a table with its columns in this order, empty or with a few rows. JavaScript puts names that are whole numbers
 * first; pairs, `[["b", int32()], ["1", utf8()]]`, keep their order.
 *
 * @example
 * createTable("documents", { id: int64().notNull(), title: utf8(), embedding: vector(768) })
 * createTable("languages", { code: utf8().notNull(), name: utf8() }, { rows: [{ code: "en", name: "English" }] })
 */
export const createTable: CreateTable = defineStep({
  kind: "createTable",
  fields,
  build: (table: string, columns: Fields, options: { readonly rows?: readonly RowValues[] } = {}) => ({
    table,
    columns: columnsOf(columns),
    ...options,
  }),
  compile: ({ table, columns, rows: values }) => [
    { kind: "createTable", table, columns, ...(values === undefined ? {} : { rows: values }) },
  ],
  source: ({ table, columns, rows: values }) => [
    valueSource(table),
    fieldsSource(columns),
    ...optionsSource({ rows: values }),
  ],
  flags: [
    {
      name: "create-table",
      describe: "create a table, empty or with a few rows",
      form: "TABLE(COLUMN TYPE [not null], …) [rows JSON]",
      read(notation) {
        const table = notation.name();
        const columns = notation.columns();
        return { table, columns, ...(notation.takes("rows") && { rows: notation.json() }) };
      },
    },
  ],
});
