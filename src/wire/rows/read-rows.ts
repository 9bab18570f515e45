/** Reads rows of small tables, such as the ledger: texts, whole numbers and times. */
import { isInteger, isTextType, type DataType } from "../../schema/data-type.ts";
import { isNullAt, offsetAt, wholeAt, widthOf, type ArrayData } from "../arrow/array-data.ts";
import { readBatches, type Batch } from "../values/read-batches.ts";
import { WrongColumn, type Cell, type Row } from "./ipc-rows.ts";

/** Throws if the data is malformed, lacks a column, is compressed, or has a column of another type. */
export function readRows(bytes: Buffer, names: readonly string[]): readonly Row[] {
  return [...eachRow(bytes, names)];
}

/** The same, but each row is made when it is asked for: a list of all of them takes more memory than the data. */
export function eachRow(bytes: Buffer, names: readonly string[]): Iterable<Row> {
  const { columns, batches } = readBatches(bytes);
  const missing = names.find((name) => !columns.some((column) => column.name === name));
  if (missing !== undefined) throw new TypeError(`there is no column ${missing}`);
  return inTurn([...batches].map((batch) => rowsOfBatch(batch, new Set(names))));
}

interface Rows {
  readonly length: number;
  readonly row: (index: number) => Row;
}

function* inTurn(batches: readonly Rows[]): Generator<Row, void> {
  for (const { length, row } of batches) for (let index = 0; index < length; index++) yield row(index);
}

function rowsOfBatch({ columns, arrays, length }: Batch, wanted: ReadonlySet<string>): Rows {
  const readers = columns
    .map(({ name }, at) => [name, arrays[at]!] as const)
    .filter(([name]) => wanted.has(name))
    .map(([name, array]) => [name, array, readerOf(array, name)] as const);
  // Copies of one object: an object that grows by one name after the other takes several times as much memory.
  const empty: Row = Object.fromEntries(readers.map(([name]) => [name, null]));
  const row = (index: number): Row => {
    const cells: Record<string, Cell> = { ...empty };
    for (const [name, array, read] of readers) if (!isNullAt(array, index)) cells[name] = read(index);
    return cells;
  };
  return { length, row };
}

function readerOf(array: ArrayData, name: string): (index: number) => Cell {
  const { type, buffers } = array;
  if (isTextType(type)) return textsOf(array);
  const whole = numberIn(type, buffers[0]!);
  if (isInteger(type)) return whole;
  if (type.kind === "timestamp") {
    const perMillisecond = { s: 1e-3, ms: 1, us: 1e3, ns: 1e6 }[type.unit];
    return (index) => whole(index) / perMillisecond;
  }
  throw new WrongColumn(name, "is neither a text nor a whole number nor a time");
}

function numberIn(type: DataType, bytes: Buffer): (index: number) => number {
  if (widthOf(type) !== 8 || type.kind === "uint64") return (index) => Number(wholeAt(type, bytes, index));
  // Without a BigInt in between, which takes several times as long.
  return (index) => bytes.readInt32LE(index * 8 + 4) * 2 ** 32 + bytes.readUInt32LE(index * 8);
}

/** A text like the one before it is the same string: most records of a ledger are of few runs. */
function textsOf(array: ArrayData): (index: number) => string {
  const letters = array.buffers[1]!;
  let last = { start: 0, end: 0, text: "" };
  return (index) => {
    const [start, end] = [offsetAt(array, index), offsetAt(array, index + 1)];
    const isSame =
      end - start === last.end - last.start &&
      // Mostly decides, and takes less time than a call for all bytes.
      letters[end - 1] === letters[last.end - 1] &&
      letters.compare(letters, last.start, last.end, start, end) === 0;
    if (!isSame) last = { start, end, text: letters.toString("utf8", start, end) };
    return last.text;
  };
}
