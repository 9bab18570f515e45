import type { TableArgument } from "../../../schema/typed/arguments.ts";
import {
  defineStep,
  ownName,
  tableName,
  type CheckedStep,
  type FieldsOf,
  type StepDefinition,
} from "../../define/define-step.ts";

const fields = { table: tableName, name: ownName("an index") };

type StepFields = FieldsOf<typeof fields>;

interface DropIndex extends StepDefinition<"dropIndex", StepFields> {
  <Database, Table extends string>(
    table: TableArgument<NoInfer<Database>, Table>,
    name: string,
  ): CheckedStep<"dropIndex", StepFields, Database, Database>;
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
  compile: ({ table, name }) => [{ kind: "dropIndex", table, name }],
  flags: [
    {
      name: "drop-index",
      describe: "drop an index",
      form: "TABLE:NAME",
      read: (notation) => ({ table: notation.name(), name: notation.expect(":").name() }),
    },
  ],
});
