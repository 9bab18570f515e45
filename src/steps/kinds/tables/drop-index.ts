import { z } from "zod";
import { valueSource } from "../../../schema/text/typescript-source.ts";
import type { TableArgument } from "../../../schema/typed/arguments.ts";
import { defineStep, ownName, tableName, type CheckedStep, type StepDefinition } from "../../define/define-step.ts";

const fields = z.object({ table: tableName, name: ownName("an index") });

interface DropIndex extends StepDefinition<"dropIndex", (typeof fields)["shape"]> {
  <Database, Table extends string>(
    table: TableArgument<NoInfer<Database>, Table>,
    name: string,
  ): CheckedStep<"dropIndex", z.output<typeof fields>, Database, NoInfer<Database>>;
}

/**
 * Drops an index by its name; the column stays.
 *
 * @example
 * dropIndex("documents", "id_idx")
 */
export const dropIndex: DropIndex = defineStep({
  kind: "dropIndex",
  fields,
  build: (table: string, name: string) => ({ table, name }),
  compile: ({ table, name }) => [{ kind: "dropIndex", table, name }],
  source: ({ table, name }) => [table, name].map(valueSource),
  flags: [
    {
      name: "drop-index",
      describe: "drop an index",
      form: "TABLE:NAME",
      read(notation) {
        const table = notation.name();
        notation.expect(":");
        return { table, name: notation.name() };
      },
    },
  ],
});
