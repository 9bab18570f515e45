import { getTable, type Table } from "../table.ts";
import type { ActionModel, ActionOf } from "./model.ts";

/** Makes an old version of a table the newest one. Done once more it changes nothing. */
export interface RestoreTableAction extends ActionOf<"restoreTable"> {
  readonly version: number;
  /** When that version was made, where the ledger knows it: the version of another table has another time. */
  readonly at?: number | undefined;
  /** A newer version, after which it was not restored before. */
  readonly after: number;
  /** The table as it was then, as far as migrations know it. */
  readonly as: Table;
  /** Its columns are the same before and after. */
  readonly isSilent: boolean;
}

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
