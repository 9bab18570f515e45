import { getTable } from "../table.ts";
import type { RestoreTableAction } from "./action.ts";
import type { ActionModel } from "./model.ts";

export const restoreTable: ActionModel<RestoreTableAction> = {
  kind: "restoreTable",
  changesRows: ({ isSilent }) => isSilent,
  after: (database, { table, as }) => {
    getTable(database, table);
    return new Map([[table, as]]);
  },
  wayBack: ({ table }) => ({ lost: `${table} is what it was before` }),
  describe: ({ table, version }) => `restore version ${version} of ${table}`,
};
