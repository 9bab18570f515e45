import type { TableArgument } from "../../../schema/typed/arguments.ts";
import type { RowChangeArgument } from "../../../schema/typed/rows.ts";
import {
  defineStep,
  tableName,
  type CheckedStep,
  type FieldsOf,
  type Schemas,
  type StepDefinition,
} from "../../define/define-step.ts";

const fields = {
  table: tableName,
  change: ({ z, sql }: Schemas) =>
    z.union(
      [
        z.strictObject({
          update: z
            .record(z.string(), sql, "must be an object of SQL expressions")
            .refine((set) => Object.keys(set).length > 0, "must set at least one column"),
          where: sql.optional(),
        }),
        z.strictObject({ delete: sql }),
      ],
      'must be { update: { column: "expression" }, where: "predicate" } or { delete: "predicate" }',
    ),
};

type StepFields = FieldsOf<typeof fields>;

interface ExecuteBuilder extends StepDefinition<"execute", StepFields> {
  <Database, Table extends string>(
    table: TableArgument<NoInfer<Database>, Table>,
    change: RowChangeArgument<NoInfer<Database>, Table>,
  ): CheckedStep<"execute", StepFields, Database, Database>;
}

/**
 * Updates or deletes the rows for which a predicate holds. The expressions of an update can't read the columns that it
 * sets, because it may be repeated after a crash; to compute a column from itself, use `retypeColumn` with `using`.
 *
 * @example
 * execute("documents", { update: { status: "'draft'" }, where: "status is null" })
 * execute("documents", { delete: "expires < now()" })
 */
export const execute: ExecuteBuilder = defineStep({
  kind: "execute",
  fields,
  compile: ({ table, change }) =>
    "delete" in change
      ? [{ kind: "deleteRows", table, where: change.delete }]
      : [{ kind: "updateRows", table, set: change.update, where: change.where }],
  moved: ({ table, change }, to) => {
    if ("delete" in change) return { change: { delete: to.sql(table, change.delete) } };
    const set = Object.entries(change.update).map(([path, sql]) => [to.path(table, path), to.sql(table, sql)]);
    const where = change.where === undefined ? {} : { where: to.sql(table, change.where) };
    return { change: { update: Object.fromEntries(set) as Readonly<Record<string, string>>, ...where } };
  },
  flags: [
    {
      name: "execute",
      describe: "update or delete rows",
      form: 'TABLE:{"update": {"COLUMN": "SQL", …}, "where": "SQL"} or TABLE:{"delete": "SQL"}',
      read: (notation) => ({ table: notation.name(), change: notation.expect(":").json() }),
    },
  ],
});
