import type { TableArgument } from "../../../schema/typed/arguments.ts";
import type { KeyArgument, RowsArgument } from "../../../schema/typed/rows.ts";
import {
  defineStep,
  ownName,
  rows,
  tableName,
  type CheckedStep,
  type FieldsOf,
  type StepDefinition,
} from "../../define/define-step.ts";

const fields = { table: tableName, rows, key: ownName("the column that tells rows apart") };

type StepFields = FieldsOf<typeof fields>;

interface InsertRows extends StepDefinition<"insertRows", StepFields> {
  <Database, Table extends string, Key extends string>(
    table: TableArgument<NoInfer<Database>, Table>,
    rows: RowsArgument<NoInfer<Database>, Table>,
    options: { readonly key: KeyArgument<NoInfer<Database>, Table, Key> },
  ): CheckedStep<"insertRows", StepFields, Database, Database>;
}

/**
 * Inserts the rows whose key is not in the table yet, for small reference data. Existing rows stay as they are.
 *
 * @example
 * insertRows("languages", [{ code: "en", name: "English" }], { key: "code" })
 */
export const insertRows: InsertRows = defineStep({
  kind: "insertRows",
  fields,
  options: ["key"],
  compile: ({ table, rows: values, key }) => [{ kind: "insertRows", table, rows: values, key }],
  moved: ({ table, rows: values, key }, to) => ({
    rows: to.rows(table, values),
    key: Object.keys(to.rows(table, [{ [key]: null }])[0]!)[0],
  }),
  flags: [
    {
      name: "insert-rows",
      describe: "insert rows whose key is not there yet",
      form: 'TABLE(KEY):[{"COLUMN": VALUE, …}, …]',
      read(notation) {
        const table = notation.name();
        const key = notation.expect("(").name();
        return { table, key, rows: notation.expect(")").expect(":").json() };
      },
    },
  ],
});
