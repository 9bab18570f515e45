import type { PathArgument, TableArgument } from "../../../schema/typed/arguments.ts";
import {
  columnPath,
  defineStep,
  tableName,
  type CheckedStep,
  type FieldsOf,
  type Schemas,
  type StepDefinition,
} from "../../define/define-step.ts";

const fields = {
  table: tableName,
  path: columnPath,
  metadata: ({ z }: Schemas) =>
    z
      .record(z.string(), z.string("must be text or null").nullable(), "must be an object of texts and nulls")
      .refine((metadata) => Object.keys(metadata).length > 0, "must have at least one key"),
};

type StepFields = FieldsOf<typeof fields>;

interface SetMetadata extends StepDefinition<"setMetadata", StepFields> {
  <Database, Table extends string, Path extends string>(
    table: TableArgument<NoInfer<Database>, Table>,
    path: PathArgument<NoInfer<Database>, Table, Path>,
    metadata: Readonly<Record<string, string | null>>,
  ): CheckedStep<"setMetadata", StepFields, Database, Database>;
}

/**
 * Sets keys of a column's metadata; null removes a key.
 *
 * @example
 * setMetadata("documents", "embedding", { model: "e5-large" })
 */
export const setMetadata: SetMetadata = defineStep({
  kind: "setMetadata",
  fields,
  compile: ({ table, path, metadata }) => [{ kind: "setMetadata", table, updates: [{ path, metadata }] }],
  flags: [
    {
      name: "set-metadata",
      describe: "set keys of a column's metadata; null removes one",
      form: 'TABLE.COLUMN:{"KEY": "VALUE", …}',
      read: (notation) => ({ ...notation.column(), metadata: notation.expect(":").json() }),
    },
  ],
});
