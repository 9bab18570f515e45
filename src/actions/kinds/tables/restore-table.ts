import type { RestoreTableAction } from "../../model/action.ts";
import type { ActionModel } from "../../model/action-model.ts";

export const restoreTable: ActionModel<RestoreTableAction> = {
  kind: "restoreTable",
  changesRows: ({ isSilent }) => isSilent,
  after: (_, { as }) => as,
  invert: ({ table }) => ({ lost: `${table} is what it was before` }),
  describe: ({ table, version }) => `restore version ${version} of ${table}`,
};
