/** What a target executes, as plain data. Steps compile to actions. */
import type { Column, DataType } from "../../schema/data-type.ts";
import type { RowValues } from "../../schema/row-values.ts";
import type { IndexType, TableIndex } from "../../schema/table-index.ts";
import type { Table } from "../../schema/table.ts";
import type { Alteration } from "./alteration.ts";
import type { Computation, EvaluateWith } from "./computation.ts";

export interface ActionOf<Kind extends string> {
  readonly kind: Kind;
  readonly table: string;
}

export interface AddedColumn extends Column {
  /** The SQL expression of its values, cast to its type; null in every row when absent. */
  readonly as?: string | undefined;
}

/**
 * Adds columns after the others. As one commit, a column that is not null needs an expression that the engine knows to
 * yield no nulls.
 */
export interface AddColumnsAction extends ActionOf<"addColumns"> {
  readonly columns: readonly AddedColumn[];
}

/**
 * Adds a field to a struct, after its others and null in every row.
 *
 * The engine adds a field without writing files. From then on, a filter or a query fails if it reads only fields of the
 * struct that a file lacks. So the field is added under a temporary name, and gets its own name in the call that writes
 * all fields of the struct again (docs/internals/engine.md).
 */
export interface AddFieldAction extends ActionOf<"addField"> {
  readonly path: string;
  readonly type: DataType;
  /** Must be true, and `as` must be absent: a field can only be added nullable and without values. */
  readonly nullable: boolean;
  readonly as?: string | undefined;
}

export interface AlterColumnsAction extends ActionOf<"alterColumns"> {
  readonly alterations: readonly Alteration[];
}

/** Rebuilds a column with the values of an expression. The column moves to the end. */
export interface ConvertColumnAction extends ActionOf<"convertColumn"> {
  readonly path: string;
  readonly type: DataType;
  /** An SQL expression over the columns before the action; its values are cast to `type`. */
  readonly using: string;
}

/** Gives a column values that code of the project computes, in the rows where it is null. */
export interface BackfillColumnAction extends ActionOf<"backfillColumn">, Computation {
  readonly path: string;
}

/**
 * Computes the values that a prepared column lacks, or that have changed since it took the place of `path`. Its marks stay
 * as long as the column `keep` (`keptMark`). Takes many commits, each of which can be repeated.
 */
export interface CatchUpColumnAction extends ActionOf<"catchUpColumn">, Computation {
  readonly path: string;
  /** The name of the existing column whose values were prepared (`into`) before it took the place of `path`. */
  readonly was?: string | undefined;
  /** The column of old values; after a rollback, the column itself. */
  readonly keep: string;
  /** The version in the marks that a former rollback may have left. Those of the old values that they show as outdated are removed. */
  readonly marked?: string | undefined;
  /** Whether this is a later run, after the migration: another migration may have prepared the column meanwhile. */
  readonly isLater?: true | undefined;
}

export interface RecallCondition {
  /** The least share of the k nearest neighbours that the index must find, from 0 to 1. */
  readonly minRecall: number;
  readonly k: number;
  /** For how many vectors of the table this is measured. */
  readonly sample: number;
}

/** Fails if a vector index does not fulfil its condition. Changes nothing. */
export interface CheckRecallAction extends ActionOf<"checkRecall">, RecallCondition {
  readonly name: string;
  readonly index: TableIndex;
}

export interface CreateIndexAction extends ActionOf<"createIndex"> {
  readonly name: string;
  readonly index: TableIndex;
  /** Whether it takes the place of an index of that name on the same column, if there is one. */
  readonly replace?: boolean | undefined;
  /** The index is dropped again if it does not fulfil this. */
  readonly condition?: RecallCondition | undefined;
}

export interface CreateTableAction extends ActionOf<"createTable"> {
  readonly columns: readonly Column[];
  /** The rows that it is created with. */
  readonly rows?: readonly RowValues[] | undefined;
  /** The metadata of its schema, which no other call sets. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

export interface DeleteRowsAction extends ActionOf<"deleteRows"> {
  /** An SQL predicate. */
  readonly where: string;
}

export interface DropColumnsAction extends ActionOf<"dropColumns"> {
  readonly paths: readonly string[];
  /** What the columns hold, for texts; their own values when absent. */
  readonly holds?: string | undefined;
}

export interface DropIndexAction extends ActionOf<"dropIndex"> {
  readonly name: string;
}

export type DropTableAction = ActionOf<"dropTable">;

/**
 * Computes the values that are missing, and those whose sources have changed since. Needs the column of marks
 * (`rewrite/source-marks.ts`). Takes many commits, each of which can be repeated.
 */
export interface FillColumnAction extends ActionOf<"fillColumn">, Computation {
  readonly path: string;
  /** The name of the mark column; `markName` when absent. */
  readonly mark?: string | undefined;
  /** Whether the values of rows without a mark are computed again. */
  readonly overwrite?: boolean | undefined;
  /** Whether a row whose value can't be computed keeps the one that it has, instead of null. */
  readonly keepsFailed?: boolean | undefined;
}

/** Inserts the rows whose key is not in the table yet. */
export interface InsertRowsAction extends ActionOf<"insertRows"> {
  readonly rows: readonly RowValues[];
  /** The column that identifies rows. */
  readonly key: string;
}

/** Merges small files, and adds the rows to the indexes that these do not cover yet. */
export type OptimizeTableAction = ActionOf<"optimizeTable">;

/**
 * Appends rows that code of the project computes from those of another table, and deletes the ones that it computed from
 * rows that have changed or are gone. Takes many commits, each of which can be repeated.
 */
export interface PopulateTableAction extends ActionOf<"populateTable">, Omit<Computation, "from"> {
  /** The table whose rows the code gets. */
  readonly from: string;
  /** The columns of it that the code reads besides the key. */
  readonly columns: readonly string[];
  /** The column of the populated table with the key of the row that a row was computed from. */
  readonly source: string;
  /** The column of the populated table with what a row was computed from, as a hash. */
  readonly mark: string;
}

/**
 * Computes new values of a column in another one, a prepared column (`rewrite/prepared-columns.ts`), and indexes them.
 * Their marks stay. Takes many commits, each of which can be repeated.
 */
export interface PrepareColumnAction extends ActionOf<"prepareColumn">, Computation {
  readonly path: string;
  /** The type of the new values. */
  readonly type: DataType;
  /** The existing column that gets them; a new one, which migrations don't see, when absent. */
  readonly into?: string | undefined;
  /** With `into`: the version in the marks that were kept when the column was replaced. Rows that have them are intact. */
  readonly marked?: string | undefined;
  readonly index?: PreparedIndex | undefined;
  /** What the index must fulfil. */
  readonly condition?: RecallCondition | undefined;
  readonly evaluate?: EvaluateWith | undefined;
}

/** The index on a prepared column, which stays on the column whose place it takes. */
export interface PreparedIndex extends IndexType {
  readonly name: string;
}

/**
 * Follows the restore of an old version: appends the rows that were added after that version and existed right before
 * the restore. Fails if rows were also changed or removed after that version.
 */
export interface PutBackRowsAction extends ActionOf<"putBackRows"> {
  /** The version that was restored. */
  readonly version: number;
  /** Only a version after this one can be the result of the restore. */
  readonly after: number;
  /** The version after which only other writers wrote; the restored version when absent. */
  readonly since?: number | undefined;
  /** Whether the migration itself wrote rows, so that some rows after the restored version may be its own. */
  readonly writes?: boolean | undefined;
  /** SQL for each column, over the columns before the restore; absent if no row can be reinserted. */
  readonly columns?: Readonly<Record<string, string>> | undefined;
  /** Columns whose values would be lost without consent: if any of the rows has a value in one, no row is reinserted. */
  readonly leaves?: readonly string[] | undefined;
  /**
   * Whether an earlier try may have reinserted the rows. Only then does the target check for it, because others may
   * append identical rows.
   */
  readonly mayBeDone?: boolean | undefined;
}

/** Builds an index again with the same parameters. */
export interface RebuildIndexAction extends ActionOf<"rebuildIndex"> {
  readonly name: string;
}

/** Computes the values of a computed column in the rows that have none or whose inputs have changed. */
export interface RefreshColumnAction extends ActionOf<"refreshColumn"> {
  readonly path: string;
}

export interface RenameTableAction extends ActionOf<"renameTable"> {
  readonly name: string;
}

/** Makes an old version of a table the newest one. Repeating it changes nothing. */
export interface RestoreTableAction extends ActionOf<"restoreTable"> {
  readonly version: number;
  /**
   * When that version was created, if the ledger knows it. The same version of a recreated table has a different time.
   */
  readonly at?: number | undefined;
  /** Only a version after this one counts as an earlier restore of `version`. */
  readonly after: number;
  /** The table in that version, as far as migrations know it. */
  readonly as: Table;
  /** Whether the restore leaves the columns as they are, so that no snapshot shows whether it has run. */
  readonly isSilent: boolean;
}

export interface MetadataUpdate {
  readonly path: string;
  /** A key whose value is null is removed. Keys that are not listed stay. */
  readonly metadata: Readonly<Record<string, string | null>>;
}

/** Sets keys of columns' metadata. */
export interface SetMetadataAction extends ActionOf<"setMetadata"> {
  readonly updates: readonly MetadataUpdate[];
  /** Whether it replaces values that something other than a migration has set. Only an old version has them then. */
  readonly replace?: boolean | undefined;
}

/** Puts the prepared column in the place of `path`, in one commit. The column that was there gets the name `keep`. */
export interface SwitchColumnAction extends ActionOf<"switchColumn">, Computation {
  readonly path: string;
  readonly keep: string;
  /** The type of the prepared column. */
  readonly type: DataType;
  readonly index?: PreparedIndex | undefined;
  /** How the old values are computed when this is rolled back; as they are when absent. */
  readonly down?: Computation | undefined;
}

export interface UpdateRowsAction extends ActionOf<"updateRows"> {
  /** SQL expressions by column path. */
  readonly set: Readonly<Record<string, string>>;
  /** An SQL predicate; every row when absent. */
  readonly where?: string | undefined;
}

export type Action =
  | AddColumnsAction
  | AddFieldAction
  | AlterColumnsAction
  | BackfillColumnAction
  | CatchUpColumnAction
  | CheckRecallAction
  | ConvertColumnAction
  | CreateIndexAction
  | CreateTableAction
  | DeleteRowsAction
  | DropColumnsAction
  | DropIndexAction
  | DropTableAction
  | FillColumnAction
  | InsertRowsAction
  | OptimizeTableAction
  | PopulateTableAction
  | PrepareColumnAction
  | PutBackRowsAction
  | RebuildIndexAction
  | RefreshColumnAction
  | RenameTableAction
  | RestoreTableAction
  | SetMetadataAction
  | SwitchColumnAction
  | UpdateRowsAction;

export type ActionKind = Action["kind"];
export type ActionFor<Kind extends ActionKind> = Extract<Action, { readonly kind: Kind }>;
