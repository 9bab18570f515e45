import type { PathArgument, TableArgument } from "../../../schema/typed/arguments.ts";
import type { WithoutColumn } from "../../../schema/typed/database.ts";
import {
  columnPath,
  defineStep,
  tableName,
  type CheckedStep,
  type FieldsOf,
  type StepDefinition,
} from "../../define/define-step.ts";

const fields = { table: tableName, path: columnPath };

type StepFields = FieldsOf<typeof fields>;

interface DropColumn extends StepDefinition<"dropColumn", StepFields> {
  <Database, Table extends string, Path extends string>(
    table: TableArgument<NoInfer<Database>, Table>,
    path: PathArgument<NoInfer<Database>, Table, Path>,
  ): CheckedStep<"dropColumn", StepFields, Database, WithoutColumn<Database, Table, Path>>;
}

/**
 * Drops a column, or a field of a struct, with its values.
 *
 * @example
 * dropColumn("documents", "source.fetched")
 */
export const dropColumn: DropColumn = defineStep({
  kind: "dropColumn",
  fields,
  compile: ({ table, path }) => [{ kind: "dropColumns", table, paths: [path] }],
  flags: [
    {
      name: "drop-column",
      describe: "drop a column with its values",
      form: "TABLE.COLUMN",
      read: (notation) => notation.column(),
    },
  ],
});
