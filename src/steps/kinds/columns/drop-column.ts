import { z } from "zod";
import { valueSource } from "../../../schema/text/typescript-source.ts";
import type { PathArgument, TableArgument } from "../../../schema/typed/arguments.ts";
import type { WithoutColumn } from "../../../schema/typed/database.ts";
import { columnPath, defineStep, tableName, type CheckedStep, type StepDefinition } from "../../define/define-step.ts";

const fields = z.object({ table: tableName, path: columnPath });

interface DropColumn extends StepDefinition<"dropColumn", (typeof fields)["shape"]> {
  <Database, Table extends string, Path extends string>(
    table: TableArgument<NoInfer<Database>, Table>,
    path: PathArgument<NoInfer<Database>, Table, Path>,
  ): CheckedStep<"dropColumn", z.output<typeof fields>, Database, WithoutColumn<NoInfer<Database>, Table, Path>>;
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
  build: (table: string, path: string) => ({ table, path }),
  compile: ({ table, path }) => [{ kind: "dropColumns", table, paths: [path] }],
  source: ({ table, path }) => [table, path].map(valueSource),
  flags: [
    {
      name: "drop-column",
      describe: "drop a column with its values",
      form: "TABLE.COLUMN",
      read: (notation) => notation.column(),
    },
  ],
});
