/** Columns and types as `notationOf` reads them again, in words that a shell passes on as they are. Pure. */
import { formatType, type DataType } from "../data-type.ts";
import type { Path } from "../path.ts";

/** A table, or a column of it. */
export function placeNotation(table: string, path: Path = []): string {
  return [table, ...path].map(nameNotation).join(".");
}

export function typeNotation(type: DataType): string {
  return formatType(type, nameNotation);
}

function nameNotation(name: string): string {
  return /^[^\s`".:,()<>[\]{}]+$/.test(name) ? name : `\`${name.replaceAll("`", "``")}\``;
}

/** A value behind a flag, in quotes where the shell would make something else of it. */
export function shellWord(text: string): string {
  return /^[\p{L}\p{N}_.,:=@%+/-]+$/u.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
