import { getTable } from "../table.ts";
import type { ActionModel, ActionOf } from "./model.ts";

/**
 * Follows the restoring of an old version: adds the rows that came after that version and were there right before. Fails
 * where something else was written that the restored version does not have.
 */
export interface PutBackRowsAction extends ActionOf<"putBackRows"> {
  /** The version that was restored. */
  readonly version: number;
  /** A newer version, after which that was done. */
  readonly after: number;
  /** The version after which only others wrote; the one that was restored when absent. */
  readonly since?: number | undefined;
  /** Whether the migration itself wrote rows, so that what came after the restored version is not all of others. */
  readonly writes?: boolean | undefined;
  /** What each column is made of: SQL over the columns that the table had then; absent where no row can be put back. */
  readonly columns?: Readonly<Record<string, string>> | undefined;
  /** Columns whose values these rows lose: where any of them has one, none is put back. Nobody has consented to that. */
  readonly leaves?: readonly string[] | undefined;
  /** Whether an earlier try may have put them back. Others may append the very same rows again, so otherwise nobody looks. */
  readonly mayBeDone?: boolean | undefined;
}

export const putBackRows: ActionModel<PutBackRowsAction> = {
  kind: "putBackRows",
  changesRows: true,
  after: (database, { table }) => new Map([[table, getTable(database, table)]]),
  wayBack: ({ table }) => ({ lost: `nobody knows which of the rows of ${table} were there before` }),
  writes: () => ({ rows: undefined }),
  describe: ({ table, version, since = version, columns }) =>
    columns === undefined
      ? `check that nothing was written to ${table} after version ${since}`
      : `put back the rows of ${table} that came after version ${since}`,
};
