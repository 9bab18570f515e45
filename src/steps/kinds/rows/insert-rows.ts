import { z } from "zod";
import { optionsSource, valueSource } from "../../../schema/text/typescript-source.ts";
import { rows } from "../../../schema/declare/validate.ts";
import type { RowValues } from "../../../schema/row-values.ts";
import type { TableArgument } from "../../../schema/typed/arguments.ts";
import type { KeyArgument, RowsArgument } from "../../../schema/typed/rows.ts";
import { defineStep, ownName, tableName, type CheckedStep, type StepDefinition } from "../../define/define-step.ts";

const fields = z.object({ table: tableName, rows, key: ownName("the column that tells rows apart") });

interface InsertRows extends StepDefinition<"insertRows", (typeof fields)["shape"]> {
  <Database, Table extends string, Key extends string>(
    table: TableArgument<NoInfer<Database>, Table>,
    rows: RowsArgument<NoInfer<Database>, Table>,
    options: { readonly key: KeyArgument<NoInfer<Database>, Table, Key> },
  ): CheckedStep<"insertRows", z.output<typeof fields>, Database, NoInfer<Database>>;
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
  build: (table: string, values: readonly RowValues[], options: { readonly key: string }) => ({
    table,
    rows: values,
    ...options,
  }),
  compile: ({ table, rows: values, key }) => [{ kind: "insertRows", table, rows: values, key }],
  source: ({ table, rows: values, key }) => [valueSource(table), valueSource(values), ...optionsSource({ key })],
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
        notation.expect("(");
        const key = notation.name();
        notation.expect(")");
        notation.expect(":");
        return { table, rows: notation.json(), key };
      },
    },
  ],
});
