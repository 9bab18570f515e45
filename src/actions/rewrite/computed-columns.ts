/** Computed columns: which columns they read, and which changes the engine refuses because of that. Pure. */
import { conflict } from "../model/conflict.ts";
import type { Column } from "../../schema/data-type.ts";
import { formatPath, type Path } from "../../schema/path.ts";
import { namesIn } from "../../schema/sql.ts";

/** The names of the columns that a computed column reads. */
function inputsOf({ computed }: Column, columns: readonly Column[]): readonly string[] {
  if (computed === undefined) return [];
  // A word after a dot is a field of a struct, a word before a parenthesis a function.
  const bare = computed
    .replace(/\.\s*(?:`[^`]*`|\w+)/g, "")
    .replace(/\w+(?:\s*\()?/g, (word) => (word.endsWith("(") ? "(" : word));
  const words = new Set(namesIn(bare).map((word) => word.toLowerCase()));
  return columns.map(({ name }) => name).filter((name) => words.has(name.toLowerCase()));
}

/**
 * Refuses a change of a column that a computed column reads, or of a field in such a column. The engine refuses it too,
 * even if the same call drops the computed column.
 */
export function checkNotRead(
  table: string,
  columns: readonly Column[],
  path: Path,
  done = "renamed, retyped or dropped",
): void {
  const reader = columns.find((column) => inputsOf(column, columns).includes(path[0]!));
  if (reader === undefined) return;
  throw conflict(
    table,
    `${formatPath(path)} can't be ${done}, as the computed column ${reader.name} reads ${path.length === 1 ? "it" : path[0]!} (${reader.computed}); drop ${reader.name} in a step before, and add it again afterwards`,
  );
}

/** Refuses a change of a computed column, or of a field inside one. `way`: the end of the message. */
export function checkNotComputed(table: string, columns: readonly Column[], path: Path, way: string): void {
  const column = columns.find(({ name }) => name === path[0]);
  if (column?.computed === undefined) return;
  throw conflict(table, `${column.name} is a computed column (${column.computed}); ${way}`);
}

export const declareAgain = "drop it, and add it again with addComputedColumn";
