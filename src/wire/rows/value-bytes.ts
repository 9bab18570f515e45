/** How many bytes the values in Arrow IPC data take. */
import { isBinary, isTextType } from "../../schema/data-type.ts";
import { offsetAt, widthOf, type ArrayData } from "../arrow/array-data.ts";
import { readBatches } from "../values/read-batches.ts";

/** For each column of a file or a stream, without headers and padding. Throws if a type can't be read. */
export function bytesOfColumns(file: Buffer): { readonly rows: number; readonly bytes: readonly number[] } {
  const { columns, batches } = readBatches(file);
  const bytes = columns.map(() => 0);
  let rows = 0;
  for (const { arrays, length } of batches) {
    rows += length;
    for (const [at, array] of arrays.entries()) bytes[at]! += bytesOf(array);
  }
  return { rows, bytes };
}

function bytesOf(array: ArrayData): number {
  return array.children.reduce((sum, child) => sum + bytesOf(child), ownBytes(array));
}

function ownBytes(array: ArrayData): number {
  const { type, length } = array;
  if (type.kind === "bool") return Math.ceil(length / 8);
  if (isTextType(type) || isBinary(type)) return offsetAt(array, length) - offsetAt(array, 0);
  return length * (widthOf(type) ?? 0);
}
