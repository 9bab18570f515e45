/** Lays tables out for the terminal. */
import stringWidth from "string-width";
import { cut } from "../command/fit.ts";
import type { Line, Output, Styled } from "../command/output.ts";
import { printable } from "../command/printable.ts";

export interface TableRow {
  readonly cells: readonly (string | Styled)[];
  /** What a row has to say in addition: after its cells if there is space, or in a line of its own. */
  readonly note?: string | undefined;
  /** An error. In a line of its own, because it may be long. */
  readonly problem?: string | undefined;
}

/** A longer note gets a line of its own, so that it does not make the table wider. */
const longestNote = 60;

/**
 * Rows as lines with columns of equal width. On a terminal, each line under a row is cut to its width, unless the user
 * asked for details.
 */
export function renderTable(
  rows: readonly TableRow[],
  { columns, verbose }: Pick<Output, "columns" | "verbose"> = { columns: undefined, verbose: false },
): readonly Line[] {
  const widths: number[] = [];
  for (const { cells } of rows)
    for (const [index, cell] of cells.entries()) widths[index] = Math.max(widths[index] ?? 0, widthOf(textOf(cell)));
  const indent = " ".repeat((widths[0] ?? 0) + 2);
  const under = (text: string): string =>
    columns === undefined || verbose ? `${indent}${text}` : cut(`${indent}${printable(text)}`, columns);
  const widest = widths.reduce((sum, width) => sum + width + 2, 0);
  const fits = (note: string) =>
    widthOf(note) <= longestNote && (columns === undefined || widest + widthOf(note) <= columns);
  return rows.flatMap(({ cells, note = "", problem }) => {
    const all = note !== "" && fits(note) ? [...pad(cells, widths), note] : cells;
    return [
      rowOf(all, widths),
      ...(note === "" || all !== cells ? [] : [under(note)]),
      ...(problem === undefined ? [] : [{ style: "red", text: under(problem) } as const]),
    ];
  });
}

/** With empty cells for the columns that the row lacks. */
function pad(cells: TableRow["cells"], widths: readonly number[]): TableRow["cells"] {
  return widths.map((_, index) => cells[index] ?? "");
}

/** Its cells with two spaces between them, and no spaces at its end. */
function rowOf(cells: TableRow["cells"], widths: readonly number[]): Line {
  const last = cells.findLastIndex((cell) => textOf(cell) !== "");
  return cells.slice(0, last + 1).flatMap((cell, index) => {
    const gap = index === last ? 0 : widths[index]! - widthOf(textOf(cell)) + 2;
    return [cell, " ".repeat(gap)];
  });
}

function textOf(cell: string | Styled): string {
  return typeof cell === "string" ? cell : cell.text;
}

/** In columns of a terminal, as it is printed. */
function widthOf(text: string): number {
  return stringWidth(printable(text));
}
