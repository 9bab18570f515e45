import type { TableArgument } from "../../../schema/typed/arguments.ts";
import type { WithoutTable } from "../../../schema/typed/database.ts";
import {
  defineStep,
  tableName,
  type CheckedStep,
  type FieldsOf,
  type StepDefinition,
} from "../../define/define-step.ts";

const fields = { table: tableName };

type StepFields = FieldsOf<typeof fields>;

interface DropTable extends StepDefinition<"dropTable", StepFields> {
  <Database, Table extends string>(
    table: TableArgument<NoInfer<Database>, Table>,
  ): CheckedStep<"dropTable", StepFields, Database, WithoutTable<Database, Table>>;
}

/**
 * Drops a table with its rows.
 *
 * @example
 * dropTable("drafts")
 */
export const dropTable: DropTable = defineStep({
  kind: "dropTable",
  fields,
  compile: ({ table }) => [{ kind: "dropTable", table }],
  flags: [
    {
      name: "drop-table",
      describe: "drop a table with its rows",
      form: "TABLE",
      read: (notation) => ({ table: notation.name() }),
    },
  ],
});
