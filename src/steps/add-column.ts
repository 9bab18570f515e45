import { z } from "zod";
import { columnSource, optionsSource, valueSource } from "../schema/source.ts";
import type { ColumnType } from "../schema/builders.ts";
import type { NewColumnArgument, NewTypeArgument, TableArgument } from "../schema/typed/arguments.ts";
import type { WithColumns } from "../schema/typed/database.ts";
import type { ShapesOf } from "../schema/typed/shape.ts";
import { dataType, defineStep, ownName, sql, tableName, type CheckedStep, type StepDefinition } from "./step.ts";

const fields = z.object({
  table: tableName,
  name: ownName("a column"),
  type: dataType,
  nullable: z.boolean("has to be a type such as int64() or utf8()"),
  as: sql.optional(),
});

interface AddColumn extends StepDefinition<"addColumn", (typeof fields)["shape"]> {
  <
    Database,
    Table extends string,
    Name extends string,
    Column extends ColumnType,
    Options extends { readonly as?: string } = {},
  >(
    table: TableArgument<NoInfer<Database>, Table>,
    name: NewColumnArgument<NoInfer<Database>, Table, Name>,
    column: NewTypeArgument<NoInfer<Database>, Column, Options>,
    options?: Options,
  ): CheckedStep<
    "addColumn",
    z.output<typeof fields>,
    Database,
    WithColumns<NoInfer<Database>, Table, ShapesOf<Readonly<Record<Name, Column>>>>
  >;
}

/**
 * Adds a column after the others: null in every row, or with the values of an SQL expression, cast to its type.
 *
 * @example
 * addColumn("documents", "language", utf8())
 * addColumn("documents", "words", int32().notNull(), { as: "length(body)" })
 */
export const addColumn: AddColumn = defineStep({
  kind: "addColumn",
  fields,
  build: (table: string, name: string, column: ColumnType, options: { readonly as?: string } = {}) => ({
    table,
    name,
    type: column?.type,
    nullable: column?.nullable,
    ...options,
  }),
  compile: ({ table, name, type, nullable, as }) => [
    { kind: "addColumns", table, columns: [{ name, type, nullable, as }] },
  ],
  source: ({ table, name, type, nullable, as }) => [
    valueSource(table),
    valueSource(name),
    columnSource({ type, nullable }),
    ...optionsSource({ as }),
  ],
  moved: ({ table, as }, to) => (as === undefined ? {} : { as: to.sql(table, as) }),
  flags: [
    {
      name: "add-column",
      describe: "add a column, null in every row or worth an SQL expression",
      form: "TABLE.COLUMN:TYPE [not null] [as SQL]",
      read(notation) {
        const table = notation.name();
        notation.expect(".");
        const name = notation.name();
        notation.expect(":");
        return { table, name, ...notation.type(), ...(notation.takes("as") && { as: notation.sql() }) };
      },
    },
  ],
});
