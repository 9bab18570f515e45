import type { DeleteRowsAction } from "../../model/action.ts";
import type { ActionModel } from "../../model/action-model.ts";

export const deleteRows: ActionModel<DeleteRowsAction> = {
  kind: "deleteRows",
  changesRows: true,
  after: (before) => before,
  invert: ({ table, where }) => ({ lost: `rows of ${table} are deleted where ${where}` }),
  describe: ({ table, where }) => `delete from ${table} where ${where}`,
  risks: ({ table, where }) => [{ kind: "loss", text: `rows of ${table} are deleted where ${where}` }],
};
