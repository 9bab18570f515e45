import type { RenameTableAction } from "../../model/action.ts";
import type { ActionModel } from "../../model/action-model.ts";

export const renameTable: ActionModel<RenameTableAction> = {
  kind: "renameTable",
  after: (before) => before,
  invert: ({ table, name }) => ({ actions: [{ kind: "renameTable", table: name, name: table }], blockers: [] }),
  nameAfter: ({ name }) => name,
  describe: ({ table, name }) => `rename table ${table} to ${name}`,
};
