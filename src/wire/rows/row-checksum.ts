/** Compares sets of rows by all values, whatever their order and batches. */
import { hash } from "node:crypto";
import { childColumns, isFloat, type Column } from "../../schema/data-type.ts";
import { bitAt, isNullAt, offsetAt, wholeAt, widthOf, type ArrayData } from "../arrow/array-data.ts";
import { readBatches } from "../values/read-batches.ts";

interface RowsSum {
  readonly rows: number;
  /**
   * Differs if any value differs, but not with the order of the rows. Floats are compared bit by bit, except that all
   * NaNs are the same.
   */
  readonly sum: string;
}

/** Whether rows of these columns can be read: the engine can't return vectors of structs beside other columns. */
export function canRead(columns: readonly Column[]): boolean {
  return columns.every(({ type }) => {
    const isVectorOfStructs = type.kind === "fixedSizeList" && type.item.type.kind === "struct";
    return type.kind !== "unknown" && !isVectorOfStructs && canRead(childColumns(type));
  });
}

/** The checksum of the rows of Arrow IPC files of one schema. Only one file is in memory at a time. */
export async function sumOfRows(files: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<RowsSum> {
  let rows = 0;
  let sum = 0n;
  for await (const file of files)
    for (const { hash } of rowsOf(file)) {
      rows++;
      // A sum, because an exclusive or would cancel a row that occurs twice.
      sum = BigInt.asUintN(256, sum + BigInt(`0x${hash}`));
    }
  return { rows, sum: sum.toString(16) };
}

interface RowDifference {
  /** The ids of rows that only the newer files contain. */
  readonly added: readonly bigint[];
  /** How many rows only the older files contain. */
  readonly removed: number;
}

/**
 * Compares two sets of rows by value. A row that occurred once and occurs twice now counts as one added row. `id` is
 * the column with the row ids, which is not compared.
 */
export async function rowDifference(
  older: AsyncIterable<Buffer> | Iterable<Buffer>,
  newer: AsyncIterable<Buffer>,
  id: string,
): Promise<RowDifference> {
  const left = new Map<string, number>();
  for await (const file of older) for (const { hash } of rowsOf(file, id)) left.set(hash, (left.get(hash) ?? 0) + 1);
  const added: bigint[] = [];
  for await (const file of newer)
    for (const row of rowsOf(file, id)) {
      const times = left.get(row.hash) ?? 0;
      if (times === 0) added.push(row.id!);
      else if (times === 1) left.delete(row.hash);
      else left.set(row.hash, times - 1);
    }
  return { added, removed: [...left.values()].reduce((sum, times) => sum + times, 0) };
}

interface HashedRow {
  readonly hash: string;
  readonly id: bigint | undefined;
}

/** Two rows have the same hash if all their values are the same. */
function* rowsOf(file: Buffer, id?: string): Generator<HashedRow> {
  for (const { columns, arrays, length } of readBatches(file).batches) {
    const hashed = arrays.filter((_, at) => columns[at]!.name !== id).map(withOneNaN);
    const ids = arrays[columns.findIndex(({ name }) => name === id)]?.buffers[0];
    for (let row = 0; row < length; row++) {
      const bytes: Uint8Array[] = [];
      for (const array of hashed) write(array, row, row + 1, bytes);
      yield { hash: hash("sha256", Buffer.concat(bytes)), id: ids?.readBigUInt64LE(row * 8) };
    }
  }
}

/** Writes the values from one index to another: which of them are null, and the bytes of the others. */
function write(array: ArrayData, from: number, to: number, bytes: Uint8Array[]): void {
  const hasNulls = array.type.kind === "null" || array.nulls > 0;
  const valid = new Uint8Array(to - from).fill(1);
  if (hasNulls) for (let at = from; at < to; at++) if (isNullAt(array, at)) valid[at - from] = 0;
  bytes.push(valid);
  const width = array.dictionary === undefined ? widthOf(array.type) : undefined;
  if (!hasNulls && width !== undefined) bytes.push(array.buffers[0]!.subarray(from * width, to * width));
  else for (let at = from; at < to; at++) if (valid[at - from] === 1) writeOne(array, at, bytes);
}

function writeOne(array: ArrayData, at: number, bytes: Uint8Array[]): void {
  const { type, children, buffers } = array;
  switch (type.kind) {
    case "struct":
      for (const child of children) write(child, at, at + 1, bytes);
      break;
    case "fixedSizeList":
      write(children[0]!, at * type.length, (at + 1) * type.length, bytes);
      break;
    case "dictionary": {
      const place = Number(wholeAt(type.index, buffers[0]!, at));
      write(array.dictionary!, place, place + 1, bytes);
      break;
    }
    case "bool":
      bytes.push(Uint8Array.of(bitAt(buffers[0]!, at) ? 1 : 0));
      break;
    default: {
      const width = widthOf(type);
      if (width !== undefined) bytes.push(buffers[0]!.subarray(at * width, (at + 1) * width));
      else writeLong(array, at, bytes);
    }
  }
}

/** A value with offsets. Its length tells it from a part of the next one. */
function writeLong(array: ArrayData, at: number, bytes: Uint8Array[]): void {
  const [start, end] = [offsetAt(array, at), offsetAt(array, at + 1)];
  bytes.push(new Uint8Array(Uint32Array.of(end - start).buffer));
  if (array.children.length > 0) write(array.children[0]!, start, end, bytes);
  else bytes.push(array.buffers[1]!.subarray(start, end));
}

/** NaN has many bit patterns, and a cast may change one into another: gives values in which there is only one. */
function withOneNaN(array: ArrayData): ArrayData {
  const { type, buffers, children, dictionary } = array;
  return {
    ...array,
    buffers: isFloat(type) ? buffers.map((values) => oneNaNIn(values, widthOf(type)!)) : buffers,
    children: children.map(withOneNaN),
    dictionary: dictionary && withOneNaN(dictionary),
  };
}

function oneNaNIn(values: Buffer, width: number): Buffer {
  // A copy, which begins at a multiple of the width.
  const { buffer } = new Uint8Array(values);
  if (width === 2) {
    const halves = new Uint16Array(buffer);
    for (let at = 0; at < halves.length; at++) if ((halves[at]! & 0x7fff) > 0x7c00) halves[at] = 0x7e00;
  } else {
    const floats = width === 4 ? new Float32Array(buffer) : new Float64Array(buffer);
    for (let at = 0; at < floats.length; at++) if (Number.isNaN(floats[at])) floats[at] = Number.NaN;
  }
  return Buffer.from(buffer);
}
