import { getTable } from "../table.ts";
import type { DeleteRowsAction } from "./action.ts";
import type { ActionModel } from "./model.ts";

export const deleteRows: ActionModel<DeleteRowsAction> = {
  kind: "deleteRows",
  changesRows: true,
  after: (database, { table }) => new Map([[table, getTable(database, table)]]),
  wayBack: ({ table, where }) => ({ lost: `rows of ${table} are deleted where ${where}` }),
  describe: ({ table, where }) => `delete from ${table} where ${where}`,
  risks: ({ table, where }) => [{ kind: "loss", text: `rows of ${table} are deleted where ${where}` }],
};
