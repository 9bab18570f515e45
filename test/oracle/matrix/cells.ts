/** All cells of the matrix, and the part of them that is run. Pure. */
import { cases, type Place } from "./steps.ts";

export interface Cell {
  readonly kind: string;
  readonly place: Place;
  /** `whole`: without nulls in the column itself. */
  readonly rows: "some" | "whole" | "none";
  readonly format: "2.0" | "2.1" | "2.2";
  readonly on: "folder" | "service";
  readonly step: string;
}

const places = ["c", "s.in"] as const;
const targets = ["folder", "service"] as const;
const formats = { some: ["2.0", "2.1", "2.2"], whole: ["2.2"], none: ["2.2"] } as const;

/** Whether nulls matter to a step. */
const seesNulls = (step: string) => step === "set not null" || step === "drop it" || step.startsWith("retype");

export function allCells(kinds: readonly string[]): readonly Cell[] {
  const all = Object.keys(cases).flatMap((step) =>
    kinds.flatMap((kind) => places.flatMap((place) => targets.map((on) => ({ step, kind, place, on })))),
  );
  return (["some", "none", "whole"] as const).flatMap((rows) =>
    formats[rows].flatMap((format) =>
      all.flatMap((cell): readonly Cell[] =>
        rows === "whole" && !seesNulls(cell.step) ? [] : [{ ...cell, rows, format }],
      ),
    ),
  );
}

/** Every `of`th cell, which mixes kinds and steps if `of` is a prime number. */
export function partOf(cells: readonly Cell[], part: number, of: number): readonly Cell[] {
  return cells.filter((_, at) => at % of === part % of);
}

export const nameOf = ({ kind, place, rows, format, on, step }: Cell) =>
  [step, kind, place, `${rows} rows`, format, on].join(" | ");
