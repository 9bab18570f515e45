import { columnSource, optionsSource, valueSource } from "../../../schema/text/typescript-source.ts";
import type { ColumnType, ShapeOf } from "../../../schema/typed/shape.ts";
import type { NewColumnArgument, TableArgument } from "../../../schema/typed/arguments.ts";
import type { WithColumn } from "../../../schema/typed/database.ts";
import {
  dataType,
  defineStep,
  optional,
  ownName,
  sql,
  tableName,
  type CheckedStep,
  type FieldsOf,
  type Schemas,
  type StepDefinition,
} from "../../define/define-step.ts";

const fields = {
  table: tableName,
  /** The name of a column, or the path of a field. */
  name: ownName("a column"),
  type: dataType,
  nullable: ({ z }: Schemas) => z.boolean("must be a type such as int64() or utf8()"),
  as: optional(sql),
};

type StepFields = FieldsOf<typeof fields>;

interface AddColumn extends StepDefinition<"addColumn", StepFields> {
  <Database, Table extends string, Name extends string, Column extends ColumnType>(
    table: TableArgument<NoInfer<Database>, Table>,
    name: NewColumnArgument<NoInfer<Database>, Table, Name>,
    column: Column,
    options?: { readonly as?: string },
  ): CheckedStep<"addColumn", StepFields, Database, WithColumn<Database, Table, Name, ShapeOf<Column>>>;
}

/**
 * Adds a column after the others, null in every row or with the values of an SQL expression, cast to its type. Or adds
 * a field to a struct, null in every row.
 *
 * @example
 * addColumn("documents", "language", utf8())
 * addColumn("documents", "source.fetched", timestamp("us"))
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
    // zod refuses it as an unknown key: addComputedColumn is the step for computed columns.
    ...(column?.expression !== undefined && { computed: column.expression }),
    ...options,
  }),
  compile: ({ table, name, type, nullable, as }) => [
    isPath(name)
      ? { kind: "addField", table, path: name, type, nullable, as }
      : { kind: "addColumns", table, columns: [{ name, type, nullable, as }] },
  ],
  source: ({ table, name, type, nullable, as }) => [
    valueSource(table),
    valueSource(name),
    columnSource({ type, nullable }),
    ...optionsSource({ as }),
  ],
  moved: ({ table, name, as }, to) => ({
    ...(isPath(name) && { name: to.path(table, name) }),
    ...(as !== undefined && { as: to.sql(table, as) }),
  }),
  flags: [
    {
      name: "add-column",
      describe: "add a column, null in every row or worth an SQL expression, or a field of a struct",
      form: "TABLE.COLUMN:TYPE [not null] [as SQL]",
      read(notation) {
        const { table, path } = notation.column();
        return {
          table,
          name: path,
          ...notation.columnType(),
          ...(notation.takes("as") && { as: notation.sql() }),
        };
      },
    },
  ],
});

/** A column's name can't contain a dot. */
function isPath(name: string): boolean {
  return name.includes(".");
}
