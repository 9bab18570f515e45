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

interface RebuildIndex extends StepDefinition<"rebuildIndex", StepFields> {
  <Database, Table extends string>(
    table: TableArgument<NoInfer<Database>, Table>,
    name: string,
  ): CheckedStep<"rebuildIndex", StepFields, Database, Database>;
}

/**
 * Builds an index again from all rows, with the same parameters. The old index serves searches until then.
 *
 * @example
 * rebuildIndex("documents", "embedding_idx")
 */
export const rebuildIndex: RebuildIndex = defineStep({
  kind: "rebuildIndex",
  fields,
  compile: ({ table, name }) => [{ kind: "rebuildIndex", table, name }],
  flags: [
    {
      name: "rebuild-index",
      describe: "build an index again with the same parameters",
      form: "TABLE:NAME",
      read: (notation) => ({ table: notation.name(), name: notation.expect(":").name() }),
    },
  ],
});
