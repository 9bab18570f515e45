import { z } from "zod";
import { optionsSource, valueSource } from "../schema/source.ts";
import { rows } from "../schema/parse.ts";
import type { RowValues } from "../schema/row-values.ts";
import { defineStep, ownName, tableName } from "./step.ts";

/**
 * Inserts rows, for small reference data: those whose key is not in the table yet. What is there stays as it is.
 *
 * @example
 * insertRows("languages", [{ code: "en", name: "English" }], { key: "code" })
 */
export const insertRows = defineStep({
  kind: "insertRows",
  fields: z.object({ table: tableName, rows, key: ownName("the column that tells rows apart") }),
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
