import type { NewTableArgument, TableArgument } from "../../../schema/typed/arguments.ts";
import type { WithRenamedTable } from "../../../schema/typed/database.ts";
import {
  defineStep,
  tableName,
  type CheckedStep,
  type FieldsOf,
  type StepDefinition,
} from "../../define/define-step.ts";

const fields = { table: tableName, name: tableName };

type StepFields = FieldsOf<typeof fields>;

interface RenameTable extends StepDefinition<"renameTable", StepFields> {
  <Database, Table extends string, Name extends string>(
    table: TableArgument<NoInfer<Database>, Table>,
    name: NewTableArgument<NoInfer<Database>, Name>,
  ): CheckedStep<"renameTable", StepFields, Database, WithRenamedTable<Database, Table, Name>>;
}

/**
 * Renames a table, on a service that supports it.
 *
 * @example
 * renameTable("docs", "documents")
 */
export const renameTable: RenameTable = defineStep({
  kind: "renameTable",
  fields,
  compile: ({ table, name }) => [{ kind: "renameTable", table, name }],
  flags: [
    {
      name: "rename-table",
      describe: "rename a table, on a service that can",
      form: "TABLE:NAME",
      read: (notation) => ({ table: notation.name(), name: notation.expect(":").name() }),
    },
  ],
});
