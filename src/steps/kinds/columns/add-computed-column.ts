import type { ColumnType, ShapeOf } from "../../../schema/typed/shape.ts";
import type { NewColumnArgument, TableArgument } from "../../../schema/typed/arguments.ts";
import type { WithColumn } from "../../../schema/typed/database.ts";
import {
  dataType,
  defineStep,
  ownName,
  sql,
  tableName,
  typeArgument,
  typeOf,
  type CheckedStep,
  type FieldsOf,
  type StepDefinition,
} from "../../define/define-step.ts";

const fields = { table: tableName, name: ownName("a column"), type: dataType, computed: sql };

type StepFields = FieldsOf<typeof fields>;

interface AddComputedColumn extends StepDefinition<"addComputedColumn", StepFields> {
  <Database, Table extends string, Name extends string, Column extends ColumnType<true>>(
    table: TableArgument<NoInfer<Database>, Table>,
    name: NewColumnArgument<NoInfer<Database>, Table, Name>,
    column: Column,
    expression: string,
  ): CheckedStep<"addComputedColumn", StepFields, Database, WithColumn<Database, Table, Name, ShapeOf<Column>>>;
}

/**
 * Adds a column that the engine computes from others by an SQL expression, cast to its type. It is null in every row
 * until `refreshColumn`, and nothing else can write to it.
 *
 * @example
 * addComputedColumn("orders", "total", float64(), "price * pieces")
 */
export const addComputedColumn: AddComputedColumn = defineStep({
  kind: "addComputedColumn",
  fields,
  arguments: { type: typeArgument },
  compile: ({ table, name, type, computed }) => [
    { kind: "addColumns", table, columns: [{ name, type, nullable: true, computed }] },
  ],
  moved: ({ table, computed }, to) => ({ computed: to.sql(table, computed) }),
  flags: [
    {
      name: "add-computed-column",
      describe: "declare a column that the engine computes from others",
      form: "TABLE.COLUMN:TYPE as SQL",
      read(notation) {
        const table = notation.name();
        const name = notation.expect(".").name();
        const type = typeOf(notation.columnType() as ColumnType);
        return { table, name, type, computed: notation.expect("as").sql() };
      },
    },
  ],
});
