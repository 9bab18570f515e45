import { count } from "../../../errors/migrate-error.ts";
import { formatColumn } from "../../../schema/data-type.ts";
import { checkRows } from "../../../schema/row-values.ts";
import { checkColumns } from "../../../schema/table.ts";
import type { CreateTableAction } from "../../model/action.ts";
import type { ActionModel } from "../../model/action-model.ts";

export const createTable: ActionModel<CreateTableAction> = {
  kind: "createTable",
  creates: true,
  after: (_, { table, columns, rows, metadata }) => {
    checkColumns(columns, table);
    if (rows !== undefined) checkRows(table, columns, rows, { whole: true });
    return { columns, ...(metadata && { metadata }) };
  },
  invert: ({ table, rows = [] }) => ({
    actions: [{ kind: "dropTable", table }],
    blockers: [{ kind: "rows", table, own: rows.length }],
  }),
  writes: ({ rows = [] }) => (rows.length === 0 ? undefined : { rows: rows.length }),
  describe: ({ table, columns, rows = [], metadata = {} }) => {
    const keys = Object.keys(metadata);
    const given = [
      ...(rows.length === 0 ? [] : [count(rows.length, "row")]),
      ...(keys.length === 0 ? [] : [`the schema metadata ${keys.join(", ")}`]),
    ];
    const words = given.length === 0 ? "" : ` with ${given.join(" and ")}`;
    return `create table ${table} (${columns.map(formatColumn).join(", ")})${words}`;
  },
};
