import { getTable } from "../table.ts";
import type { ActionModel, ActionOf } from "./model.ts";

/** Adds the rows that a table had right before one of its versions was restored and that came after that version. Done once more it changes nothing. */
export interface PutBackRowsAction extends ActionOf<"putBackRows"> {
  /** The version that was restored. */
  readonly version: number;
  /** A newer version, after which that was done. */
  readonly after: number;
  /** What each column is made of: SQL over the columns that the table had then. */
  readonly columns: Readonly<Record<string, string>>;
}

export const putBackRows: ActionModel<PutBackRowsAction> = {
  kind: "putBackRows",
  changesRows: true,
  after: (database, { table }) => new Map([[table, getTable(database, table)]]),
  wayBack: ({ table }) => ({ lost: `nobody knows which of the rows of ${table} were there before` }),
  writes: () => ({ rows: undefined }),
  describe: ({ table, version }) => `put back the rows of ${table} that came after version ${version}`,
};
