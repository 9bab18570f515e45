/** What columns a table may get. The engine accepts more: columns that it or its clients can't read afterwards. */
import { formatType, type Column, type DataType } from "../../../schema/data-type.ts";
import { hasFixedWidth } from "../../../schema/declare/validate.ts";
import { formatPath } from "../../../schema/path.ts";
import { blob, specialStorage } from "../../../schema/reserved-metadata.ts";
import { checkColumns, columnsWithin } from "../../../schema/table.ts";
import { invalidInput, unsupported } from "./error-answer.ts";

/** Throws if a new table can't have these columns. */
export function checkNewTable(columns: readonly Column[], name: string): void {
  if (columns.length === 0) throw invalidInput("a table needs at least one column");
  checkColumns(columns, name);
  checkSent(columns);
}

/** Throws if a table can't have these columns, which a client sends. */
export function checkSent(columns: readonly Column[]): void {
  checkTypes(columns);
  for (const { column, path } of columnsWithin(columns)) {
    const field = fieldOfEngine(column);
    if (field !== undefined)
      throw invalidInput(`column ${formatPath(path)} is a blob with a field ${field}; send data and uri alone`);
  }
}

/** Throws if a table can't have columns of these types. */
export function checkTypes(columns: readonly Column[]): void {
  for (const { column, path } of columnsWithin(columns)) {
    const problem = problemWith(column.type, formatPath(path));
    if (problem !== undefined) throw unsupported(problem);
  }
}

function problemWith(type: DataType, place: string): string | undefined {
  if (type.kind === "unknown" && type.name === "map")
    return `maps, as column ${place} has: LanceDB's clients could not open the table`;
  // The engine separates the parts of a type by colons, and panics.
  if (type.kind === "timestamp" && type.zone?.includes(":") === true)
    return `time zones such as ${type.zone}, as column ${place} has; use UTC or a name`;
  if (type.kind === "fixedSizeList" && !hasFixedWidth(type.item.type))
    return `vectors of ${formatType(type.item.type)}, as column ${place} has; use a list`;
  return undefined;
}

const fieldsOfBlobs: ReadonlySet<string> = new Set(["data", "uri", "position", "size"]);

/**
 * The field of a blob that only the engine itself writes. With those fields, the bytes of a blob may be those of any file
 * of this machine: the engine checks only a `uri` without them.
 */
function fieldOfEngine({ type, metadata }: Column): string | undefined {
  if (type.kind !== "struct" || specialStorage(metadata) !== blob) return undefined;
  return type.fields.find(({ name }) => !fieldsOfBlobs.has(name))?.name;
}
