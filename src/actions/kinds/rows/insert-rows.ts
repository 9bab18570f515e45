import { count } from "../../../errors/migrate-error.ts";
import { conflict } from "../../model/conflict.ts";
import { holdsNullField } from "../../../schema/data-type.ts";
import { checkRows } from "../../../schema/row-values.ts";
import type { InsertRowsAction } from "../../model/action.ts";
import type { ActionModel } from "../../model/action-model.ts";

export const insertRows: ActionModel<InsertRowsAction> = {
  kind: "insertRows",
  changesRows: true,
  after: (before, { table, rows, key }) => {
    const stuck = before.columns.find(({ type }) => holdsNullField(type));
    if (stuck !== undefined)
      throw conflict(table, `the engine can't insert rows beside ${stuck.name}, in which a field is of type null`);
    checkRows(table, before.columns, rows, { key });
    return before;
  },
  invert: ({ table }) => ({ lost: `it is unknown which rows of ${table} existed before` }),
  writes: ({ rows }) => ({ rows: rows.length }),
  describe: ({ table, rows, key }) =>
    `insert ${count(rows.length, "row")} into ${table} where their ${key} is not there`,
};
