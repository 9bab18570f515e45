import type { PathArgument, TableArgument } from "../../../schema/typed/arguments.ts";
import {
  columnPath,
  defineStep,
  optional,
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
  replace: optional(({ z }: Schemas) => z.boolean("must be true or false")),
};

type StepFields = FieldsOf<typeof fields>;

interface SetMetadata extends StepDefinition<"setMetadata", StepFields> {
  <Database, Table extends string, Path extends string>(
    table: TableArgument<NoInfer<Database>, Table>,
    path: PathArgument<NoInfer<Database>, Table, Path>,
    metadata: Readonly<Record<string, string | null>>,
    options?: { readonly replace?: boolean },
  ): CheckedStep<"setMetadata", StepFields, Database, Database>;
}

/**
 * Sets keys of a column's metadata; null removes a key. A key that something other than a migration has set is refused,
 * because a rollback would remove it. With `replace`, the step replaces its value, and only an old version of the table
 * can restore it.
 *
 * @example
 * setMetadata("documents", "embedding", { model: "e5-large" })
 * setMetadata("documents", "embedding", { model: "e5-large" }, { replace: true })
 */
export const setMetadata: SetMetadata = defineStep({
  kind: "setMetadata",
  fields,
  options: ["replace"],
  compile: ({ table, path, metadata, replace }) => [
    { kind: "setMetadata", table, updates: [{ path, metadata }], ...(replace === true && { replace }) },
  ],
  flags: [
    {
      name: "set-metadata",
      describe: "set keys of a column's metadata; null removes one",
      form: 'TABLE.COLUMN:{"KEY": "VALUE", …} [replace]',
      read(notation) {
        const set = { ...notation.column(), metadata: notation.expect(":").json() };
        return { ...set, ...(notation.takes("replace") && { replace: true }) };
      },
    },
  ],
});
