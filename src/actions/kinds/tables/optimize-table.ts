import type { OptimizeTableAction } from "../../model/action.ts";
import type { ActionModel } from "../../model/action-model.ts";

export const optimizeTable: ActionModel<OptimizeTableAction> = {
  kind: "optimizeTable",
  changesRows: true,
  after: (before) => before,
  // The rows are the same, however they are stored.
  invert: () => ({ actions: [], blockers: [] }),
  describe: ({ table }) => `optimize ${table}`,
};
