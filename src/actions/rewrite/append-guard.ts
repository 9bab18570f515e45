/**
 * What keeps out others' appends while columns are rewritten.
 *
 * While a nullable column is rewritten, rows that others append by what they know of the table would lose their value in
 * it without a word. A column that holds no nulls keeps them out: the engine refuses an append that does not give it, and one
 * that was begun before it was added (docs/engine.md).
 */
import type { Action, AddedColumn } from "../model/action.ts";
import type { Alteration } from "../model/alteration.ts";
import { madeName } from "../../schema/names.ts";
import { formatPath } from "../../schema/path.ts";
import type { Table } from "../../schema/table.ts";
import type { Commit } from "../model/action-model.ts";

const name = "_lance_migrate_guard";
const hidden = "_lance_migrate_hidden_";

export const guardColumn: AddedColumn = { name, type: { kind: "int8" }, nullable: false, as: "1" };

export function guardOn(table: string): Action {
  return { kind: "addColumns", table, columns: [guardColumn] };
}

export function guardOff(table: string): Action {
  return { kind: "dropColumns", table, paths: [name] };
}

/**
 * The guard where others append without pause: adding it conflicts with every append that comes first, a rename with none.
 * While the columns are hidden, an append that names them is refused; one that was begun before keeps its values.
 * `undo`: what takes back the commits before.
 */
export function guardOnByHiding(
  table: string,
  columns: ReadonlySet<string>,
  undo: readonly Action[],
): readonly Commit[] {
  const names = [...columns].map((column, index) => [column, `${hidden}${index}`] as const);
  const alter = (alterations: readonly Alteration[]): Action => ({ kind: "alterColumns", table, alterations });
  const hide = alter(names.map(([column, rename]) => ({ path: formatPath([column]), rename })));
  const show = alter(names.map(([rename, path]) => ({ path, rename })));
  return [
    { action: hide, undo },
    { action: guardOn(table), undo: [show, ...undo] },
    { action: show, undo: [] },
  ];
}

/** Whether a column has its name just while it is hidden. */
export function isHidden(column: string): boolean {
  return column.startsWith(hidden);
}

/** Whether a column can't have that name, because one has it for a moment while others are rewritten. */
export function isReserved(column: string): boolean {
  const lower = column.toLowerCase();
  return lower === name || lower === madeName || isHidden(lower);
}

/** Whether an append by somebody who names the columns as they were is refused. */
export function keepsOut({ columns }: Table): boolean {
  return columns.some((column) => column.name === name || isHidden(column.name));
}
