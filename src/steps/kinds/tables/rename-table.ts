import { z } from "zod";
import { valueSource } from "../../../schema/text/typescript-source.ts";
import type { NewTableArgument, TableArgument } from "../../../schema/typed/arguments.ts";
import type { WithRenamedTable } from "../../../schema/typed/database.ts";
import { defineStep, tableName, type CheckedStep, type StepDefinition } from "../../define/define-step.ts";

const fields = z.object({ table: tableName, name: tableName });

interface RenameTable extends StepDefinition<"renameTable", (typeof fields)["shape"]> {
  <Database, Table extends string, Name extends string>(
    table: TableArgument<NoInfer<Database>, Table>,
    name: NewTableArgument<NoInfer<Database>, Name>,
  ): CheckedStep<"renameTable", z.output<typeof fields>, Database, WithRenamedTable<NoInfer<Database>, Table, Name>>;
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
  build: (table: string, name: string) => ({ table, name }),
  compile: ({ table, name }) => [{ kind: "renameTable", table, name }],
  source: ({ table, name }) => [table, name].map(valueSource),
  flags: [
    {
      name: "rename-table",
      describe: "rename a table, on a service that can",
      form: "TABLE:NAME",
      read(notation) {
        const table = notation.name();
        notation.expect(":");
        return { table, name: notation.name() };
      },
    },
  ],
});
