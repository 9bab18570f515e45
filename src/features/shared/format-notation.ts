/** Formats columns and types in the notation that `notationOf` reads, and values for a shell. Pure. */
import { formatType, type DataType } from "../../schema/data-type.ts";
import type { Path } from "../../schema/path.ts";

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

/** A flag's value, in quotes if the shell would change it. */
export function shellWord(text: string, windows = process.platform === "win32"): string {
  if (/^[\p{L}\p{N}_.,:=@%+/-]+$/u.test(text)) return text;
  return windows ? `"${text.replaceAll('"', '\\"')}"` : `'${text.replaceAll("'", "'\\''")}'`;
}
