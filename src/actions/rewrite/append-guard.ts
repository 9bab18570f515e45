/**
 * The guard column, which keeps out other writers' appends while columns are rewritten.
 *
 * Without it, rows that others append while a nullable column is rewritten would silently lose their value in that
 * column. The guard column is not null: the engine refuses an append that gives no value for it, and an append that
 * began before the guard column was added (docs/internals/engine.md).
 */
import type { Action, AddedColumn } from "../model/action.ts";
import type { Alteration } from "../model/alteration.ts";
import { isPrepared } from "./prepared-columns.ts";
import { markName } from "./source-marks.ts";
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
 * Adds the guard column while others append without pause. Adding it conflicts with every append that commits first; a
 * rename conflicts with none. So the columns are first renamed to hidden names: the engine then refuses an append that
 * names them, and an append that began before keeps its values. `undo`: undoes the commits before these.
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
  return [{ action: hide, undo }, { action: guardOn(table), undo: [show, ...undo] }, { action: show }];
}

/** What to do if a table differs from what it should be by the guard column; undefined if it does not. */
export function guardHint(differences: readonly string[]): string | undefined {
  if (!differences.some((text) => text.includes(name))) return undefined;
  return `a run that was suspended has added ${name} late, and the table refuses appends while it is there; drop this column, then run it again`;
}

/** Whether a name is the temporary name of a hidden column. */
export function isHidden(column: string): boolean {
  return column.startsWith(hidden);
}

/** Whether a name is reserved for the temporary columns of a rewrite. */
export function isReserved(column: string): boolean {
  const lower = column.toLowerCase();
  return lower === name || lower === madeName || lower === markName || isHidden(lower) || isPrepared(lower);
}

/** Whether the table refuses an append that names the columns as they were before the rewrite. */
export function keepsOut({ columns }: Table): boolean {
  return columns.some((column) => column.name === name || isHidden(column.name));
}
