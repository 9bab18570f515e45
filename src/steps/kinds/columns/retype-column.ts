import type { ColumnType, NullableType } from "../../../schema/typed/shape.ts";
import type { PathArgument, TableArgument, TypeArgument } from "../../../schema/typed/arguments.ts";
import type { WithChanges } from "../../../schema/typed/database.ts";
import {
  columnPath,
  dataType,
  defineStep,
  optional,
  sql,
  tableName,
  typeArgument,
  typeOf,
  type CheckedStep,
  type FieldsOf,
  type StepDefinition,
} from "../../define/define-step.ts";

const fields = { table: tableName, path: columnPath, type: dataType, using: optional(sql) };

type StepFields = FieldsOf<typeof fields>;

interface RetypeColumn extends StepDefinition<"retypeColumn", StepFields> {
  <
    Database,
    Table extends string,
    Path extends string,
    Type extends NullableType,
    Options extends { readonly using?: string } = {},
  >(
    table: TableArgument<NoInfer<Database>, Table>,
    path: PathArgument<NoInfer<Database>, Table, Path>,
    type: TypeArgument<NoInfer<Database>, Table, Path, Type, Options>,
    options?: Options,
  ): CheckedStep<"retypeColumn", StepFields, Database, WithChanges<Database, Table, { path: Path; type: Type }>>;
}

/**
 * Casts a column to another type of its family, which rewrites the column. If the engine has no such cast, give
 * `using`, an SQL expression for the new values: the column is then rebuilt as the last one.
 *
 * @example
 * retypeColumn("documents", "id", int64())
 * retypeColumn("documents", "price", float64(), { using: "try_cast(price as double)" })
 */
export const retypeColumn: RetypeColumn = defineStep({
  kind: "retypeColumn",
  fields,
  options: ["using"],
  arguments: { type: typeArgument },
  compile: ({ table, path, type, using }) => [
    using === undefined
      ? { kind: "alterColumns", table, alterations: [{ path, type }] }
      : { kind: "convertColumn", table, path, type, using },
  ],
  moved: ({ table, using }, to) => (using === undefined ? {} : { using: to.sql(table, using) }),
  flags: [
    {
      name: "retype",
      describe: "cast a column to another type, or recreate it with an SQL expression",
      form: "TABLE.COLUMN:TYPE [using SQL]",
      read(notation) {
        const column = notation.column();
        const type = typeOf(notation.columnType() as ColumnType);
        return { ...column, type, ...(notation.takes("using") && { using: notation.sql() }) };
      },
    },
  ],
});
