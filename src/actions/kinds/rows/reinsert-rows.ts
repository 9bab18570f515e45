import type { PutBackRowsAction } from "../../model/action.ts";
import type { ActionModel } from "../../model/action-model.ts";

export const putBackRows: ActionModel<PutBackRowsAction> = {
  kind: "putBackRows",
  changesRows: true,
  after: (before) => before,
  invert: ({ table }) => ({ lost: `it is unknown which rows of ${table} existed before` }),
  writes: () => ({ rows: undefined }),
  describe: ({ table, version, since = version, columns }) =>
    columns === undefined
      ? `check that nothing was written to ${table} after version ${since}`
      : `reinsert the rows of ${table} that came after version ${since}`,
};
