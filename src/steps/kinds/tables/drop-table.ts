import { z } from "zod";
import { valueSource } from "../../../schema/text/typescript-source.ts";
import type { TableArgument } from "../../../schema/typed/arguments.ts";
import type { WithoutTable } from "../../../schema/typed/database.ts";
import { defineStep, tableName, type CheckedStep, type StepDefinition } from "../../define/define-step.ts";

const fields = z.object({ table: tableName });

interface DropTable extends StepDefinition<"dropTable", (typeof fields)["shape"]> {
  <Database, Table extends string>(
    table: TableArgument<NoInfer<Database>, Table>,
  ): CheckedStep<"dropTable", z.output<typeof fields>, Database, WithoutTable<NoInfer<Database>, Table>>;
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
  build: (table: string) => ({ table }),
  compile: ({ table }) => [{ kind: "dropTable", table }],
  source: ({ table }) => [valueSource(table)],
  flags: [
    {
      name: "drop-table",
      describe: "drop a table with its rows",
      form: "TABLE",
      read: (notation) => ({ table: notation.name() }),
    },
  ],
});
