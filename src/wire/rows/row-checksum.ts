/** Compares sets of rows by all values, whatever their order and batches. Loaded when rows are compared. */
import { hash } from "node:crypto";
import { DataType, tableFromIPC, type Data } from "apache-arrow";
import { childColumns, type Column } from "../../schema/data-type.ts";

interface RowsSum {
  readonly rows: number;
  /**
   * Differs if any value differs, but not with the order of the rows. Floats are compared bit by bit, except that all
   * NaNs are the same.
   */
  readonly sum: string;
}

/**
 * Whether rows of these columns can be read: apache-arrow has no large lists, and the engine can't return vectors of
 * structs beside other columns.
 */
export function canRead(columns: readonly Column[]): boolean {
  return columns.every(({ type }) => {
    const isVectorOfStructs = type.kind === "fixedSizeList" && type.item.type.kind === "struct";
    return type.kind !== "largeList" && type.kind !== "unknown" && !isVectorOfStructs && canRead(childColumns(type));
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
  for (const batch of tableFromIPC(file).batches) {
    const { data, schema } = batch;
    // The list columns of an empty batch may have no items to read.
    if (data.length === 0) continue;
    const columns = data.children.filter((_, at) => schema.fields[at]!.name !== id);
    for (const column of columns) makeOneNaN(column);
    const ids = id === undefined ? undefined : batch.getChild(id);
    for (let row = 0; row < data.length; row++) {
      const bytes: Uint8Array[] = [];
      for (const column of columns) write(column, row, row + 1, bytes);
      yield { hash: hash("sha256", Buffer.concat(bytes)), id: ids?.get(row) as bigint | undefined };
    }
  }
}

/** Writes the values from one index to another: which of them are null, and the bytes of the others. */
function write(data: Data, from: number, to: number, bytes: Uint8Array[]): void {
  const hasNulls = DataType.isNull(data.type) || data.nullCount > 0;
  const valid = new Uint8Array(to - from).fill(1);
  if (hasNulls) for (let at = from; at < to; at++) valid[at - from] = isValid(data, at) ? 1 : 0;
  bytes.push(valid);
  const width = widthOf(data);
  if (!hasNulls && width > 0) bytes.push(bytesOf(data).subarray(from * width, to * width));
  else for (let at = from; at < to; at++) if (valid[at - from] === 1) writeOne(data, at, bytes);
}

function isValid(data: Data, at: number): boolean {
  return !DataType.isNull(data.type) && data.getValid(at);
}

function writeOne(data: Data, at: number, bytes: Uint8Array[]): void {
  const { type, children, dictionary, valueOffsets } = data;
  if (DataType.isStruct(type)) {
    for (const child of children) write(child, at, at + 1, bytes);
  } else if (DataType.isFixedSizeList(type)) {
    write(children[0]!, at * type.listSize, (at + 1) * type.listSize, bytes);
  } else if (DataType.isDictionary(type)) {
    write(dictionary!.data[0]!, Number(data.values[at]), Number(data.values[at]) + 1, bytes);
  } else if (DataType.isBool(type)) {
    bytes.push(Uint8Array.of((data.values[at >> 3]! >> (at & 7)) & 1));
  } else if (valueOffsets !== undefined) {
    const [start, end] = [Number(valueOffsets[at]), Number(valueOffsets[at + 1])];
    bytes.push(new Uint8Array(Uint32Array.of(end - start).buffer));
    if (DataType.isList(type)) write(children[0]!, start, end, bytes);
    else bytes.push(bytesOf(data).subarray(start, end));
  } else {
    const width = widthOf(data);
    bytes.push(bytesOf(data).subarray(at * width, (at + 1) * width));
  }
}

function bytesOf({ values }: Data): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

/** Bytes per value; 0 if the values differ in width or have no bytes of their own. */
function widthOf({ type, values, valueOffsets, stride }: Data): number {
  const isPlain = ![DataType.isBool, DataType.isDictionary, DataType.isStruct, DataType.isNull].some((is) => is(type));
  if (!isPlain || DataType.isFixedSizeList(type) || valueOffsets !== undefined || values === undefined) return 0;
  return stride * values.BYTES_PER_ELEMENT;
}

/** Replaces every NaN by the same one: NaN has many bit patterns, and a cast may change one into another. */
function makeOneNaN({ type, values, children, dictionary }: Data): void {
  for (const child of children) makeOneNaN(child);
  for (const chunk of dictionary?.data ?? []) makeOneNaN(chunk);
  if (!DataType.isFloat(type)) return;
  if (values instanceof Uint16Array)
    for (let at = 0; at < values.length; at++) values[at] = (values[at]! & 0x7fff) > 0x7c00 ? 0x7e00 : values[at]!;
  else for (let at = 0; at < values.length; at++) if (Number.isNaN(values[at])) values[at] = Number.NaN;
}
