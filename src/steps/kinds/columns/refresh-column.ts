import type { PathArgument, TableArgument } from "../../../schema/typed/arguments.ts";
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

interface RefreshColumn extends StepDefinition<"refreshColumn", StepFields> {
  <Database, Table extends string, Path extends string>(
    table: TableArgument<NoInfer<Database>, Table>,
    path: PathArgument<NoInfer<Database>, Table, Path>,
  ): CheckedStep<"refreshColumn", StepFields, Database, Database>;
}

/**
 * Computes the values of a computed column in the rows that have none or whose inputs have changed.
 *
 * @example
 * refreshColumn("orders", "total")
 */
export const refreshColumn: RefreshColumn = defineStep({
  kind: "refreshColumn",
  fields,
  compile: ({ table, path }) => [{ kind: "refreshColumn", table, path }],
  flags: [
    {
      name: "refresh-column",
      describe: "compute the values of a computed column",
      form: "TABLE.COLUMN",
      read: (notation) => notation.column(),
    },
  ],
});
