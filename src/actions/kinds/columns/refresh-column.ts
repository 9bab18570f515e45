import { conflict } from "../../model/conflict.ts";
import { parsePath } from "../../../schema/path.ts";
import { risksOfExpression } from "../../model/risk.ts";
import { findColumn, requireColumn } from "../../../schema/table.ts";
import type { RefreshColumnAction } from "../../model/action.ts";
import type { ActionModel } from "../../model/action-model.ts";

export const refreshColumn: ActionModel<RefreshColumnAction> = {
  kind: "refreshColumn",
  changesRows: true,
  after: (before, { table, path }) => {
    const column = requireColumn(table, before.columns, parsePath(path));
    if (column.computed === undefined)
      throw conflict(table, `${path} is not a computed column; addComputedColumn declares one`);
    return before;
  },
  // The values can be computed from their inputs at any time, so a rollback has nothing to do.
  invert: () => ({ actions: [], blockers: [] }),
  writes: ({ path }, { columns }) => {
    const column = findColumn(columns, parsePath(path));
    return { columns: column === undefined ? [] : [column] };
  },
  gives: ({ path }) => [{ path: parsePath(path), sql: undefined }],
  describe: ({ table, path }) => `refresh ${table}.${path}`,
  risks: ({ table, path }, before) => {
    const column = findColumn(before.columns, parsePath(path));
    if (column?.computed === undefined) return [];
    const risks = risksOfExpression(`${table}.${path}`, column.type, column.computed, before);
    return risks.filter(({ kind }) => kind === "failure");
  },
};
