import { getTable } from "../../../schema/table.ts";
import { checkNewTable } from "./create-table.ts";
import type { RenameTableAction } from "../../model/action.ts";
import type { ActionModel } from "../../model/action-model.ts";

export const renameTable: ActionModel<RenameTableAction> = {
  kind: "renameTable",
  tables: ({ table, name }) => [table, name],
  after: (database, { table, name }) => {
    const renamed = getTable(database, table);
    checkNewTable(database, name);
    return new Map([
      [table, undefined],
      [name, renamed],
    ]);
  },
  invert: ({ table, name }) => ({ actions: [{ kind: "renameTable", table: name, name: table }], obstacles: [] }),
  move: (at, { name }) => ({ ...at, table: name }),
  describe: ({ table, name }) => `rename table ${table} to ${name}`,
};
