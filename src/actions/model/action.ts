/** What a target executes, as plain data. Steps compile to actions. */
import type { Column, DataType } from "../../schema/data-type.ts";
import type { RowValues } from "../../schema/row-values.ts";
import type { TableIndex } from "../../schema/table-index.ts";
import type { Table } from "../../schema/table.ts";
import type { Alteration } from "./alteration.ts";

/** What every action has: its kind, and the table that it is about. */
export interface ActionOf<Kind extends string> {
  readonly kind: Kind;
  readonly table: string;
}

export interface AddedColumn extends Column {
  /** The SQL expression of its values, cast to its type; null in every row when absent. */
  readonly as?: string | undefined;
}

/** Adds columns after the others. One that is not null needs an expression that the engine knows to have no nulls. */
export interface AddColumnsAction extends ActionOf<"addColumns"> {
  readonly columns: readonly AddedColumn[];
}

/**
 * Adds a field to a struct, after its others and null in every row.
 *
 * The engine adds one without writing files, and then fails each filter and each query that reads of the struct only fields
 * which a file lacks. So it is added under a name for the moment, and gets its own in the call that writes all fields of the
 * struct again (docs/engine.md).
 */
export interface AddFieldAction extends ActionOf<"addField"> {
  readonly path: string;
  readonly type: DataType;
  /** A field that is not null, or has values, is refused: it is added with neither. */
  readonly nullable: boolean;
  readonly as?: string | undefined;
}

export interface AlterColumnsAction extends ActionOf<"alterColumns"> {
  readonly alterations: readonly Alteration[];
}

/** Makes a column anew with values that an expression gives; it moves to the end. */
export interface ConvertColumnAction extends ActionOf<"convertColumn"> {
  readonly path: string;
  readonly type: DataType;
  /** SQL, over the columns as they are before; cast to the type. */
  readonly using: string;
}

export interface CreateIndexAction extends ActionOf<"createIndex"> {
  readonly name: string;
  readonly index: TableIndex;
}

export interface CreateTableAction extends ActionOf<"createTable"> {
  readonly columns: readonly Column[];
  /** The rows that it has from the beginning. */
  readonly rows?: readonly RowValues[] | undefined;
  /** Of its schema. No other call sets it. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

export interface DeleteRowsAction extends ActionOf<"deleteRows"> {
  /** SQL. */
  readonly where: string;
}

export interface DropColumnsAction extends ActionOf<"dropColumns"> {
  readonly paths: readonly string[];
}

export interface DropIndexAction extends ActionOf<"dropIndex"> {
  readonly name: string;
}

export type DropTableAction = ActionOf<"dropTable">;

/** Inserts those rows whose key is not there. */
export interface InsertRowsAction extends ActionOf<"insertRows"> {
  readonly rows: readonly RowValues[];
  /** The column that tells rows apart. */
  readonly key: string;
}

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

/** Computes the values of a computed column, in the rows that have none or whose inputs have changed. */
export interface RefreshColumnAction extends ActionOf<"refreshColumn"> {
  readonly path: string;
}

export interface RenameTableAction extends ActionOf<"renameTable"> {
  readonly name: string;
}

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

export interface MetadataUpdate {
  readonly path: string;
  /** Keys that are null are removed; the others stay. */
  readonly metadata: Readonly<Record<string, string | null>>;
}

/** Sets keys of columns' metadata. */
export interface SetMetadataAction extends ActionOf<"setMetadata"> {
  readonly updates: readonly MetadataUpdate[];
}

export interface UpdateRowsAction extends ActionOf<"updateRows"> {
  /** SQL expressions by the columns that are set to them. */
  readonly set: Readonly<Record<string, string>>;
  /** SQL; every row when absent. */
  readonly where?: string | undefined;
}

export type Action =
  | AddColumnsAction
  | AddFieldAction
  | AlterColumnsAction
  | ConvertColumnAction
  | CreateIndexAction
  | CreateTableAction
  | DeleteRowsAction
  | DropColumnsAction
  | DropIndexAction
  | DropTableAction
  | InsertRowsAction
  | PutBackRowsAction
  | RefreshColumnAction
  | RenameTableAction
  | RestoreTableAction
  | SetMetadataAction
  | UpdateRowsAction;

export type ActionKind = Action["kind"];
export type ActionFor<Kind extends ActionKind> = Extract<Action, { readonly kind: Kind }>;
