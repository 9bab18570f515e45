import { count, MigrateError } from "../../../errors/migrate-error.ts";
import { formatColumn } from "../../../schema/data-type.ts";
import { tableNameProblem } from "../../../schema/names.ts";
import { checkRows } from "../../../schema/row-values.ts";
import { checkColumns } from "../../../schema/table.ts";
import type { CreateTableAction } from "../../model/action.ts";
import type { ActionModel } from "../../model/action-model.ts";

export const createTable: ActionModel<CreateTableAction> = {
  kind: "createTable",
  creates: true,
  after: (_, { table, columns, rows, metadata }, database) => {
    checkNewTable(database, table);
    checkColumns(columns, table);
    if (rows !== undefined) checkRows(table, columns, rows, { whole: true });
    return { columns, ...(metadata && { metadata }) };
  },
  invert: ({ table, rows = [] }) => ({
    actions: [{ kind: "dropTable", table }],
    obstacles: [{ kind: "rows", table, own: rows.length }],
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

/** Refuses a name that is taken, or that the engine does not accept. */
export function checkNewTable(database: ReadonlyMap<string, unknown>, table: string): void {
  const problem = tableNameProblem(table);
  if (problem !== undefined) throw new MigrateError("ERR_TABLE_NAME", { table, problem });
  if (database.has(table)) throw new MigrateError("ERR_TABLE_EXISTS", { table });
}
