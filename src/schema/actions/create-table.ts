import { MigrateError } from "../../errors.ts";
import { formatColumn, type Column } from "../data-type.ts";
import { tableNameProblem } from "../names.ts";
import { checkColumns } from "../table.ts";
import { defineAction, type ActionOf } from "./model.ts";

export interface CreateTableAction extends ActionOf<"createTable"> {
  readonly columns: readonly Column[];
}

export const createTable = defineAction<CreateTableAction>({
  kind: "createTable",
  after: (database, { table, columns }) => {
    checkNewTable(database, table);
    checkColumns(columns, table);
    return new Map([[table, { columns }]]);
  },
  describe: ({ table, columns }) => `create table ${table} (${columns.map(formatColumn).join(", ")})`,
});

/** Refuses a name that is taken, or that the engine does not take. */
export function checkNewTable(database: ReadonlyMap<string, unknown>, table: string): void {
  const problem = tableNameProblem(table);
  if (problem !== undefined) throw new MigrateError("ERR_TABLE_NAME", { table, problem });
  if (database.has(table)) throw new MigrateError("ERR_TABLE_EXISTS", { table });
}
