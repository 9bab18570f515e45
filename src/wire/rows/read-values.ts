/** Reads values of any column from Arrow IPC, as migrations write them. Loaded when code computes values. */
import * as arrow from "apache-arrow";
import type { RowValue, RowValues } from "../../schema/row-values.ts";

/** The rows of files or streams. Whole numbers that a JavaScript number can't hold are texts, and times are ISO 8601. */
export function rowsIn(files: readonly Uint8Array[]): readonly RowValues[] {
  return files.flatMap((file) => arrow.tableFromIPC(file).batches.flatMap(rowsOfBatch));
}

function rowsOfBatch(batch: arrow.RecordBatch): readonly RowValues[] {
  const columns = batch.schema.fields.map(({ name }, index) => [name, batch.getChildAt(index)!] as const);
  return Array.from({ length: batch.numRows }, (_, row) =>
    Object.fromEntries(columns.map(([name, column]) => [name, plain(column.get(row), column.type)])),
  );
}

function plain(value: unknown, type: arrow.DataType): RowValue {
  if (value === null || value === undefined) return null;
  if (arrow.DataType.isTimestamp(type) || arrow.DataType.isDate(type)) return toIso(value as number, type);
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof arrow.Vector) return itemsOf(value);
  if (value instanceof arrow.StructRow)
    return Object.fromEntries(
      type.children.map((field) => [
        field.name,
        plain((value as unknown as Record<string, unknown>)[field.name], field.type as arrow.DataType),
      ]),
    );
  return value as RowValue;
}

function itemsOf(vector: arrow.Vector): RowValue {
  const type = vector.type as arrow.DataType;
  // There may be a hundred thousand vectors of a thousand numbers.
  if (arrow.DataType.isFloat(type) && type.precision === arrow.Precision.SINGLE && vector.nullCount === 0)
    return vector.toArray() as unknown as readonly number[];
  return Array.from({ length: vector.length }, (_, index) => plain(vector.get(index), type));
}

/** The package gives milliseconds. */
function toIso(value: number, type: arrow.DataType): string {
  const text = new Date(Number(value)).toISOString();
  return arrow.DataType.isDate(type) ? text.slice(0, 10) : text;
}
