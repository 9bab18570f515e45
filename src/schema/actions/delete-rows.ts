import { getTable } from "../table.ts";
import type { ActionModel, ActionOf } from "./model.ts";

export interface DeleteRowsAction extends ActionOf<"deleteRows"> {
  /** SQL. */
  readonly where: string;
}

export const deleteRows: ActionModel<DeleteRowsAction> = {
  kind: "deleteRows",
  changesRows: true,
  after: (database, { table }) => new Map([[table, getTable(database, table)]]),
  wayBack: ({ table, where }) => ({ lost: `rows of ${table} are deleted where ${where}` }),
  describe: ({ table, where }) => `delete from ${table} where ${where}`,
  risks: ({ table, where }) => [{ kind: "loss", text: `rows of ${table} are deleted where ${where}` }],
};
