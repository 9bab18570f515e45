import type { TableArgument } from "../../../schema/typed/arguments.ts";
import {
  defineStep,
  tableName,
  type CheckedStep,
  type FieldsOf,
  type StepDefinition,
} from "../../define/define-step.ts";

const fields = { table: tableName };

type StepFields = FieldsOf<typeof fields>;

interface OptimizeTable extends StepDefinition<"optimizeTable", StepFields> {
  <Database, Table extends string>(
    table: TableArgument<NoInfer<Database>, Table>,
  ): CheckedStep<"optimizeTable", StepFields, Database, Database>;
}

/**
 * Merges small files, and adds the rows to the indexes that these do not cover yet. Old versions stay.
 *
 * @example
 * optimizeTable("documents")
 */
export const optimizeTable: OptimizeTable = defineStep({
  kind: "optimizeTable",
  fields,
  compile: ({ table }) => [{ kind: "optimizeTable", table }],
  flags: [
    {
      name: "optimize-table",
      describe: "merge a table's small files, and index all of its rows",
      form: "TABLE",
      read: (notation) => ({ table: notation.name() }),
    },
  ],
});
