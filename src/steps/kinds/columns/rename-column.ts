import type { PathArgument, TableArgument } from "../../../schema/typed/arguments.ts";
import type { WithChanges } from "../../../schema/typed/database.ts";
import {
  columnPath,
  defineStep,
  tableName,
  type CheckedStep,
  type FieldsOf,
  type Schemas,
  type StepDefinition,
} from "../../define/define-step.ts";

const fields = { table: tableName, path: columnPath, name: ({ z }: Schemas) => z.string("must be the new name") };

type StepFields = FieldsOf<typeof fields>;

interface RenameColumn extends StepDefinition<"renameColumn", StepFields> {
  <Database, Table extends string, Path extends string, Name extends string>(
    table: TableArgument<NoInfer<Database>, Table>,
    path: PathArgument<NoInfer<Database>, Table, Path>,
    name: Name,
  ): CheckedStep<"renameColumn", StepFields, Database, WithChanges<Database, Table, { path: Path; rename: Name }>>;
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
  compile: ({ table, path, name }) => [{ kind: "alterColumns", table, alterations: [{ path, rename: name }] }],
  flags: [
    {
      name: "rename",
      describe: "rename a column",
      form: "TABLE.COLUMN:NAME",
      read: (notation) => ({ ...notation.column(), name: notation.expect(":").name() }),
    },
  ],
});
