/**
 * Reads rows from Arrow IPC data by the layout of its columns (https://arrow.apache.org/docs/format/Columnar.html). The
 * ledger consists of texts, whole numbers and times. apache-arrow can read everything, and takes long to load.
 */
import type { Field } from "apache-arrow/fb/field";
import { Int } from "apache-arrow/fb/int";
import { RecordBatch } from "apache-arrow/fb/record-batch";
import { TimeUnit } from "apache-arrow/fb/time-unit";
import { Timestamp } from "apache-arrow/fb/timestamp";
import { Type } from "apache-arrow/fb/type";
import { checkMessages, checkSchema, readMessages, schemaOf, type IpcMessage } from "../arrow/ipc-messages.ts";
import { WrongColumn, type Cell, type Row } from "./ipc-rows.ts";

/** How the values of a column are stored: in how many buffers, how many there are, and how one of them is read. */
interface Layout {
  readonly buffers: number;
  readonly count: (buffers: readonly Buffer[]) => number;
  readonly read: (buffers: readonly Buffer[], index: number) => Cell;
}

/** In bytes. */
const largestUnpacked = 2 ** 30;

/** Throws if the data is malformed, lacks a column, is compressed, or has a column of another type. */
export function readRows(bytes: Buffer, names: readonly string[]): readonly Row[] {
  return [...eachRow(bytes, names)];
}

/** The same, but each row is made when it is asked for: a list of all of them takes more memory than the data. */
export function eachRow(bytes: Buffer, names: readonly string[]): Iterable<Row> {
  const [schema, ...batches] = readMessages(bytes);
  checkMessages(batches, largestUnpacked);
  const fields = fieldsOf(schema!);
  const missing = names.find((name) => !fields.some((field) => field.name() === name));
  if (missing !== undefined) throw new TypeError(`there is no column ${missing}`);
  const columns = fields.map((field) => ({ name: field.name() ?? "", layout: layoutOf(field) }));
  return inTurn(batches.map((batch) => rowsOfBatch(batch, columns, new Set(names))));
}

interface Batch {
  readonly length: number;
  readonly row: (index: number) => Row;
}

function* inTurn(batches: readonly Batch[]): Generator<Row, void> {
  for (const { length, row } of batches) for (let index = 0; index < length; index++) yield row(index);
}

function fieldsOf(message: IpcMessage): readonly Field[] {
  const schema = schemaOf(message);
  checkSchema(schema);
  return Array.from({ length: schema.fieldsLength() }, (_, index) => schema.fields(index)!);
}

interface ReadColumn {
  readonly name: string;
  readonly layout: Layout;
}

function rowsOfBatch(
  { kind, header, bytes, metadataLength }: IpcMessage,
  columns: readonly ReadColumn[],
  wanted: ReadonlySet<string>,
): Batch {
  const batch = header.header(new RecordBatch()) as RecordBatch;
  if (kind !== "batch" || batch.compression() !== null) throw new TypeError("the rows are encoded in another way");
  const body = bytes.subarray(metadataLength);
  const buffers = Array.from({ length: batch.buffersLength() }, (_, index) => {
    const { offset, length } = place(batch, index);
    return body.subarray(offset, offset + length);
  });
  const length = Number(batch.length());
  let next = 0;
  const readers = columns.map(({ name, layout }, index) => {
    const [validity, ...values] = buffers.slice(next, (next += layout.buffers));
    if (length > 0 && layout.count(values) < length)
      throw new TypeError(`${name} has fewer values than there are rows`);
    const hasNulls = batch.nodes(index)!.nullCount() > 0n;
    const isNull = (row: number) => hasNulls && ((validity![row >> 3]! >> (row & 7)) & 1) === 0;
    return [name, (row: number) => (isNull(row) ? null : layout.read(values, row))] as const;
  });
  const shown = readers.filter(([name]) => wanted.has(name));
  // Copies of one object: an object that grows by one name after the other takes several times as much memory.
  const empty: Row = Object.fromEntries(shown.map(([name]) => [name, null]));
  const row = (index: number): Row => {
    const cells: Record<string, Cell> = { ...empty };
    for (const [name, read] of shown) cells[name] = read(index);
    return cells;
  };
  return { length, row };
}

function place(batch: RecordBatch, index: number) {
  const buffer = batch.buffers(index)!;
  return { offset: Number(buffer.offset()), length: Number(buffer.length()) };
}

function layoutOf(field: Field): Layout {
  const name = field.name() ?? "";
  if (field.dictionary() !== null) throw new WrongColumn(name, "is encoded in another way");
  switch (field.typeType()) {
    case Type.Utf8:
      return texts(4, (offsets, index) => offsets.readInt32LE(index * 4));
    case Type.LargeUtf8:
      return texts(8, (offsets, index) => Number(offsets.readBigInt64LE(index * 8)));
    case Type.Int:
      return wholeNumbers(field.type(new Int()) as Int);
    case Type.Timestamp:
      return times(field.type(new Timestamp()) as Timestamp);
    default:
      throw new WrongColumn(name, "is neither a text nor a whole number nor a time");
  }
}

/**
 * A text ends where the next one begins. A text like the one before it is the same string: most records of a ledger are
 * of few runs.
 */
function texts(size: number, offset: (offsets: Buffer, index: number) => number): Layout {
  let last = { letters: Buffer.alloc(0) as Buffer, start: 0, end: 0, text: "" };
  return {
    buffers: 3,
    count: ([offsets]) => offsets!.length / size - 1,
    read: ([offsets, letters], index) => {
      const [start, end] = [offset(offsets!, index), offset(offsets!, index + 1)];
      const isSame =
        end - start === last.end - last.start &&
        end <= letters!.length &&
        // Mostly decides, and takes less time than a call for all bytes.
        letters![end - 1] === last.letters[last.end - 1] &&
        letters!.compare(last.letters, last.start, last.end, start, end) === 0;
      if (!isSame) last = { letters: letters!, start, end, text: letters!.toString("utf8", start, end) };
      return last.text;
    },
  };
}

function wholeNumbers(type: Int): Layout {
  const size = type.bitWidth() / 8;
  if (![1, 2, 4, 8].includes(size)) throw new TypeError(`there are no whole numbers of ${type.bitWidth()} bits`);
  const isSigned = type.isSigned();
  return values(size, (bytes, index) => {
    if (size === 8) return isSigned ? int64(bytes, index) : Number(bytes.readBigUInt64LE(index * 8));
    return isSigned ? bytes.readIntLE(index * size, size) : bytes.readUIntLE(index * size, size);
  });
}

/** As `Number(bytes.readBigInt64LE(…))`, without a BigInt in between. */
function int64(bytes: Buffer, index: number): number {
  return bytes.readInt32LE(index * 8 + 4) * 2 ** 32 + bytes.readUInt32LE(index * 8);
}

/** In milliseconds. */
function times(type: Timestamp): Layout {
  const toMilliseconds = inMilliseconds[type.unit()];
  return values(8, (bytes, index) => toMilliseconds(int64(bytes, index)));
}

const inMilliseconds: Readonly<Record<TimeUnit, (value: number) => number>> = {
  [TimeUnit.SECOND]: (value) => value * 1e3,
  [TimeUnit.MILLISECOND]: (value) => value,
  [TimeUnit.MICROSECOND]: (value) => value / 1e3,
  [TimeUnit.NANOSECOND]: (value) => value / 1e6,
};

function values(size: number, read: (bytes: Buffer, index: number) => Cell): Layout {
  return { buffers: 2, count: ([bytes]) => bytes!.length / size, read: ([bytes], index) => read(bytes!, index) };
}
