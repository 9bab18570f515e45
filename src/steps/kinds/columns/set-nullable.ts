import type { PathArgument, TableArgument } from "../../../schema/typed/arguments.ts";
import type { WithChanges } from "../../../schema/typed/database.ts";
import {
  columnPath,
  defineStep,
  tableName,
  type CheckedStep,
  type FieldsOf,
  type Schemas,
  type StepDefinition,
} from "../../define/define-step.ts";

const fields = { table: tableName, path: columnPath, nullable: ({ z }: Schemas) => z.boolean("must be true or false") };

type StepFields = FieldsOf<typeof fields>;

interface SetNullable extends StepDefinition<"setNullable", StepFields> {
  <Database, Table extends string, Path extends string, Nullable extends boolean>(
    table: TableArgument<NoInfer<Database>, Table>,
    path: PathArgument<NoInfer<Database>, Table, Path>,
    nullable: Nullable,
  ): CheckedStep<"setNullable", StepFields, Database, WithChanges<Database, Table, { path: Path; nullable: Nullable }>>;
}

/**
 * Makes a column nullable (`true`) or not null (`false`, which fails if the column contains a null).
 *
 * @example
 * setNullable("documents", "title", false)
 */
export const setNullable: SetNullable = defineStep({
  kind: "setNullable",
  fields,
  compile: ({ table, path, nullable }) => [{ kind: "alterColumns", table, alterations: [{ path, nullable }] }],
  flags: [
    {
      name: "nullable",
      describe: "let a column hold nulls",
      form: "TABLE.COLUMN",
      read: (notation) => ({ ...notation.column(), nullable: true }),
    },
    {
      name: "not-null",
      describe: "refuse nulls in a column",
      form: "TABLE.COLUMN",
      read: (notation) => ({ ...notation.column(), nullable: false }),
    },
  ],
});
