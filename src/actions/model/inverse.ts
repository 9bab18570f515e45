/** The inverses of actions: which actions undo them, and which data may block that. Pure. */
import type { Action } from "./action.ts";
import type { DataType } from "../../schema/data-type.ts";

/** Rows that block a rollback or make an action fail. A run counts them before it changes anything. */
export type Blocker = {
  readonly table: string;
  /** The position, from 0, of the inverse's action that it blocks; 0 when absent. */
  readonly at?: number | undefined;
} & (
  | { readonly kind: "null"; readonly path: string }
  /** Values that a cast from `from` to `to` and back would change. */
  | { readonly kind: "cast"; readonly path: string; readonly from: DataType; readonly to: DataType }
  /** Values that the engine refuses to cast to `to`. */
  | { readonly kind: "misfit"; readonly path: string; readonly to: DataType }
  /** Values of a column that is dropped. */
  | { readonly kind: "values"; readonly path: string }
  /**
   * The same for a column that the migration itself filled: only rows that were written after `version` count, which is
   * null if it is unknown.
   */
  | { readonly kind: "filled"; readonly path: string; readonly version?: number | null | undefined }
  /** Rows that have the key of another row. */
  | { readonly kind: "key"; readonly path: string }
  /** Fewer vectors than an index needs. */
  | { readonly kind: "vectors"; readonly path: string; readonly least: number }
  /**
   * Any rows except `own` many, which the migration itself wrote. With `version`, any rows that were not in that
   * version; null if it is unknown in which version all rows were the migration's own.
   */
  | { readonly kind: "rows"; readonly own: number; readonly version?: number | null | undefined }
  /**
   * Anything that was written after `version`, after which only others wrote; undefined if that version is unknown.
   * `writes`: whether the migration wrote rows itself. `leaves`: columns whose values are lost when rows are reinserted.
   */
  | {
      readonly kind: "since";
      readonly version: number | undefined;
      readonly writes: boolean;
      readonly leaves: readonly string[];
    }
);

export type Inverse =
  | {
      /** To be run in this order on the tables as the action leaves them. */
      readonly actions: readonly Action[];
      readonly blockers: readonly Blocker[];
    }
  /** Why no action can undo it. Only an old version of the table can; with `isGone`, the versions are gone too. */
  | { readonly lost: string; readonly isGone?: true };
