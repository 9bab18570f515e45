/** Generates rows for a table: small values, always the same ones. */
import { isInteger, isTextType, type Column, type DataType } from "../../schema/data-type.ts";
import { canHold, type RowValue, type RowValues } from "../../schema/row-values.ts";

/**
 * The columns that can be filled, and that many rows of them, or as many as there are values of the smallest of the
 * `keys`, whose values don't repeat. Columns of types that migrations can't write are left out if they may be null.
 * Undefined if one of these may not be null.
 */
export function sampleRows(
  columns: readonly Column[],
  rows: number,
  keys: ReadonlySet<string> = new Set(),
): { readonly columns: readonly Column[]; readonly rows: readonly RowValues[] } | undefined {
  const filled = columns.filter(({ type, computed }) => canHold(type) && computed === undefined);
  if (filled.length === 0 || columns.some((column) => !column.nullable && !filled.includes(column))) return undefined;
  const values = (row: number) =>
    filled.map(({ name, type }, index) => {
      const key = keys.has(name) ? keyValue(type, row) : undefined;
      return [name, key ?? sampleValue(type, mixed(row, index))] as const;
    });
  const own = filled.filter(({ name }) => keys.has(name)).map(({ type }) => mostKeys[type.kind] ?? rows);
  const length = Math.min(rows, ...own);
  return { columns: filled, rows: Array.from({ length }, (_, row) => Object.fromEntries(values(row))) };
}

/** Of types with fewer values than a table may have rows. */
const mostKeys: Partial<Record<DataType["kind"], number>> = {
  int8: 2 ** 7,
  uint8: 2 ** 8,
  int16: 2 ** 15,
  uint16: 2 ** 16,
};

/** A value that no other row has; undefined for types that can't identify rows. */
function keyValue(type: DataType, row: number): RowValue | undefined {
  if (isTextType(type)) return `text ${row}`;
  return isInteger(type) ? row : undefined;
}

function sampleValue(type: DataType, number: number): RowValue {
  switch (type.kind) {
    case "bool":
      return number % 2 === 1;
    case "utf8":
    case "largeUtf8":
      return `text ${number % 1000}`;
    case "json":
      return `{"number":${number % 1000}}`;
    case "date32":
      return `2000-01-${String(1 + (number % 28)).padStart(2, "0")}`;
    case "timestamp":
      return `2000-01-${String(1 + (number % 28)).padStart(2, "0")}T00:00:00Z`;
    case "float16":
    case "float32":
    case "float64":
      return (number % 100) / 4;
    case "list":
      return Array.from({ length: number % 4 }, (_, at) => sampleValue(type.item.type, mixed(number, at)));
    case "fixedSizeList":
      return Array.from({ length: type.length }, (_, at) => sampleValue(type.item.type, mixed(number, at)));
    case "struct":
      return Object.fromEntries(
        type.fields.map((field, at) => [field.name, sampleValue(field.type, mixed(number, at))]),
      );
    default:
      return number % 100;
  }
}

/** A number from 0 to 2^32 - 1 that looks random but depends only on the arguments. */
function mixed(one: number, other: number): number {
  let hash = Math.imul(one + 1, 0x9e37_79b1) ^ Math.imul(other + 1, 0x85eb_ca77);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a_2d39);
  return (hash ^ (hash >>> 15)) >>> 0;
}
