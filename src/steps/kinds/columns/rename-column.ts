import { z } from "zod";
import { valueSource } from "../../../schema/text/typescript-source.ts";
import type { PathArgument, TableArgument } from "../../../schema/typed/arguments.ts";
import type { WithChanges } from "../../../schema/typed/database.ts";
import { columnPath, defineStep, tableName, type CheckedStep, type StepDefinition } from "../../define/define-step.ts";

const fields = z.object({ table: tableName, path: columnPath, name: z.string("must be the new name") });

interface RenameColumn extends StepDefinition<"renameColumn", (typeof fields)["shape"]> {
  <Database, Table extends string, Path extends string, Name extends string>(
    table: TableArgument<NoInfer<Database>, Table>,
    path: PathArgument<NoInfer<Database>, Table, Path>,
    name: Name,
  ): CheckedStep<
    "renameColumn",
    z.output<typeof fields>,
    Database,
    WithChanges<NoInfer<Database>, Table, { path: Path; rename: Name }>
  >;
}

/**
 * Renames a column or a nested field; no data is rewritten. The new name is the last part alone, without the path.
 *
 * @example
 * renameColumn("documents", "source.fetched", "fetched_at")
 */
export const renameColumn: RenameColumn = defineStep({
  kind: "renameColumn",
  fields,
  build: (table: string, path: string, name: string) => ({ table, path, name }),
  compile: ({ table, path, name }) => [{ kind: "alterColumns", table, alterations: [{ path, rename: name }] }],
  source: ({ table, path, name }) => [table, path, name].map(valueSource),
  flags: [
    {
      name: "rename",
      describe: "rename a column",
      form: "TABLE.COLUMN:NAME",
      read(notation) {
        const column = notation.column();
        notation.expect(":");
        return { ...column, name: notation.name() };
      },
    },
  ],
});
