import type { CatchUpColumnAction } from "../../model/action.ts";
import type { ActionModel } from "../../model/action-model.ts";
import { parsePath } from "../../../schema/path.ts";
import { describeComputation } from "../../rewrite/check-computation.ts";

export const catchUpColumn: ActionModel<CatchUpColumnAction> = {
  kind: "catchUpColumn",
  changesRows: true,
  needs: () => ["fillColumn", "dropColumns", "alterColumns"],
  after: (before) => before,
  invert: () => ({ actions: [], blockers: [] }),
  gives: ({ path }) => [{ path: parsePath(path), sql: undefined }],
  describe: (action) =>
    `compute ${action.table}.${action.path} ${describeComputation(action)}, for rows that were written meanwhile`,
};
