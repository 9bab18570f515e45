import { conflict } from "../../model/conflict.ts";
import type { Action, BackfillColumnAction, FillColumnAction } from "../../model/action.ts";
import type { ActionModel } from "../../model/action-model.ts";
import { checkNotComputed } from "../../rewrite/computed-columns.ts";
import { checkComputation, describeComputation, keyRisk } from "../../rewrite/check-computation.ts";
import { isPending, markColumn, markName } from "../../rewrite/source-marks.ts";
import { parsePath } from "../../../schema/path.ts";
import { requireColumn, type Table } from "../../../schema/table.ts";

export const backfillColumn: ActionModel<BackfillColumnAction> = {
  kind: "backfillColumn",
  changesRows: true,
  needs: ["addColumns", "fillColumn", "dropColumns"],
  after: (before, action) => {
    checkBackfill(before, action);
    return before;
  },
  commits: (action) => {
    const { table } = action;
    const unmark: Action = { kind: "dropColumns", table, paths: [markName] };
    return [
      { action: { kind: "addColumns", table, columns: [markColumn()] } },
      { action: { ...action, kind: "fillColumn" } },
      { action: unmark },
    ];
  },
  invert: ({ table, path }) => ({ lost: `it is unknown which rows of ${table} had no ${path} before` }),
  gives: ({ path }) => [{ path: parsePath(path), sql: undefined }],
  describe: (action) => `${describeFill(action)} where it is null`,
  risks: (action) => [keyRisk(action)],
};

export const fillColumn: ActionModel<FillColumnAction> = {
  kind: "fillColumn",
  changesRows: true,
  after: (before) => before,
  invert: () => ({ actions: [], blockers: [] }),
  writes: ({ path, where }, { columns }) => ({
    columns: columns.filter(({ name }) => name === parsePath(path)[0]),
    where,
  }),
  gives: ({ path }) => [{ path: parsePath(path), sql: undefined }],
  computes: (action) => {
    const column = parsePath(action.path)[0]!;
    const { mark = markName, overwrite = false } = action;
    return { column, how: action, mark, pending: isPending(action, column), overwrite };
  },
  describe: describeFill,
};

function describeFill(action: FillColumnAction | BackfillColumnAction): string {
  return `compute ${action.table}.${action.path} ${describeComputation(action)},`;
}

/** Throws ERR_ALTERATION_CONFLICT, ERR_COLUMN_MISSING, ERR_PATH_INVALID. */
function checkBackfill(before: Table, action: BackfillColumnAction): void {
  const { table, path } = action;
  const { type, nullable } = requireColumn(table, before.columns, parsePath(path));
  checkNotComputed(table, before.columns, parsePath(path), "refreshColumn computes its values");
  if (!nullable) throw conflict(table, `${path} is not null, so no row lacks a value; setNullable makes it nullable`);
  checkComputation(before, { ...action, type });
}
