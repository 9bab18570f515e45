/** How actions are taken back: by which others, and which data may stand in the way. Pure. */
import type { Action } from "./action.ts";
import type { DataType } from "../../schema/data-type.ts";

/** Rows that stand in the way of taking an action back. They are looked for before anything is changed. */
export type Blocker = {
  readonly table: string;
  /** Which of the actions it stands in the way of, counted from 0; the first when absent. */
  readonly at?: number | undefined;
} & (
  | { readonly kind: "null"; readonly path: string }
  /** What does not come back from a cast as it was. */
  | { readonly kind: "cast"; readonly path: string; readonly from: DataType; readonly to: DataType }
  /** What the engine refuses to cast. */
  | { readonly kind: "misfit"; readonly path: string; readonly to: DataType }
  /** Values that somebody has given a new column. */
  | { readonly kind: "values"; readonly path: string }
  /** The same, where the action gave it values itself: what others wrote came after that version, which nobody may know. */
  | { readonly kind: "filled"; readonly path: string; readonly version?: number | null | undefined }
  /** Too few vectors to make an index of. */
  | { readonly kind: "vectors"; readonly path: string; readonly least: number }
  /**
   * Any, but for so many that are the action's own; where the target keeps versions, but for those that were there at one:
   * null where nobody knows at which one there were no others.
   */
  | { readonly kind: "rows"; readonly own: number; readonly version?: number | null | undefined }
  /**
   * What was written after a version; undefined where it is unknown which version only others wrote after. `writes`: whether the
   * migration wrote rows itself. `leaves`: columns whose values rows lose that are put back.
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
      /** In this order, on the tables as the action leaves them. */
      readonly actions: readonly Action[];
      readonly obstacles: readonly Blocker[];
    }
  /** Why no action brings back what was there: only an old version of the table does, or where it is gone not even that. */
  | { readonly lost: string; readonly isGone?: true };
