/** Generates sample rows for any columns, as an Arrow IPC file: always the same ones. Loaded when rows are drawn. */
import * as arrow from "apache-arrow";
import { childColumns, type Column, type DataType } from "../../schema/data-type.ts";
import { drawInteger, drawText, mixed, byteWidth, type Draw } from "./sample-values.ts";
import { toArrow, toArrowField } from "../arrow/arrow-type.ts";
import { canRead } from "./row-checksum.ts";

/**
 * Whether rows of these columns can be drawn: apache-arrow can't write the null type inside a list, and the engine
 * refuses it inside a struct.
 */
export function canDraw(columns: readonly Column[]): boolean {
  const inner = columns.flatMap(({ type }) => childColumns(type));
  return canRead(columns) && inner.every(({ type }) => type.kind !== "null") && (inner.length === 0 || canDraw(inner));
}

/** An Arrow IPC file with this many rows. The schema has no metadata. */
export function drawnRows(columns: readonly Column[], rows: number, draw: Draw): Buffer {
  const fields = columns.map(toArrowField);
  const children = columns.map((column, index) => toData(column, rows, { draw, salt: index + 1 }));
  const data = arrow.makeData({ type: new arrow.Struct(fields), length: rows, nullCount: 0, children });
  const table = new arrow.Table([new arrow.RecordBatch(new arrow.Schema(fields), data)]);
  return Buffer.from(arrow.tableToIPC(table, "file"));
}

interface Drawing {
  readonly draw: Draw;
  /** Differs from column to column; otherwise all columns would hold the same values. */
  readonly salt: number;
}

function toData(column: Column, length: number, drawing: Drawing): arrow.Data {
  const { type } = column;
  const given = { type: toArrow(type), length, ...nullsOf(column, length, drawing) };
  const inner = (child: Column, count: number, at = 0, draw = drawing.draw) =>
    toData(child, count, { draw, salt: drawing.salt * 31 + at + 1 });
  // Each case makes data of exactly its type, which TypeScript can't follow through `toArrow`.
  const made = given as typeof given & { type: never };
  switch (type.kind) {
    case "null":
      return arrow.makeData({ type: new arrow.Null(), length });
    case "struct":
      return arrow.makeData({
        ...(made as typeof given & { type: arrow.Struct }),
        children: type.fields.map((field, at) => inner(field, length, at)),
      });
    case "list": {
      const lengths = Array.from({ length }, (_, row) => mixed(row, drawing.salt) % 4);
      const valueOffsets = Int32Array.from(endsOf(lengths), Number);
      return arrow.makeData({
        ...(made as typeof given & { type: arrow.List }),
        valueOffsets,
        child: inner(type.item, valueOffsets.at(-1)!),
      });
    }
    case "fixedSizeList":
      return arrow.makeData({
        ...(made as typeof given & { type: arrow.FixedSizeList }),
        // The engine refuses NaN in a vector.
        child: inner(type.item, length * type.length, 0, "plain"),
      });
    case "dictionary": {
      const known = { name: column.name, type: type.value, nullable: false };
      const values = inner(known, 5);
      const data = bytesOf(type.index, length, (row) => BigInt(mixed(row, drawing.salt) % 5));
      return arrow.makeData({
        ...(made as typeof given & { type: arrow.Dictionary }),
        data: data as never,
        dictionary: new arrow.Vector([values]),
      });
    }
    case "bool": {
      const data = bitsOf(Array.from({ length }, (_, row) => mixed(row, drawing.salt) % 2 === 1));
      return arrow.makeData({ ...(made as typeof given & { type: arrow.Bool }), data });
    }
    default:
      return byteWidth(type) > 0
        ? arrow.makeData({
            ...made,
            data: bytesOf(type, length, (row) => drawInteger(type, row, drawing.salt, drawing.draw)),
          } as never)
        : textsOf(type, length, made, drawing);
  }
}

function textsOf(type: DataType, length: number, made: { readonly type: never }, { draw, salt }: Drawing): arrow.Data {
  const texts = Array.from({ length }, (_, row) => drawText(type, row, salt, draw));
  const ends = endsOf(texts.map((text) => text.length));
  const isLarge = type.kind === "largeUtf8" || type.kind === "largeBinary";
  const valueOffsets = isLarge ? BigInt64Array.from(ends, BigInt) : Int32Array.from(ends);
  return arrow.makeData({ ...made, valueOffsets, data: Buffer.concat(texts) } as never);
}

/** Where each value begins, and where the last one ends. */
function endsOf(lengths: readonly number[]): readonly number[] {
  let end = 0;
  return [0, ...lengths.map((length) => (end += length))];
}

/** Integers as little-endian bytes of the type's width. */
function bytesOf(type: DataType, length: number, valueOf: (row: number) => bigint): Uint8Array {
  const width = byteWidth(type);
  const bytes = new Uint8Array(length * width);
  for (let row = 0; row < length; row++)
    for (let value = valueOf(row), at = 0; at < width; at++, value >>= 8n)
      bytes[row * width + at] = Number(value & 0xffn);
  return bytes;
}

function nullsOf({ nullable }: Column, length: number, { draw, salt }: Drawing) {
  const valid = Array.from({ length }, (_, row) => !nullable || draw === "plain" || mixed(row, salt + 7) % 5 !== 0);
  return { nullCount: valid.filter((is) => !is).length, nullBitmap: bitsOf(valid) };
}

function bitsOf(flags: readonly boolean[]): Uint8Array {
  const bits = new Uint8Array(Math.ceil(flags.length / 8));
  for (const [index, flag] of flags.entries()) if (flag) bits[index >> 3]! |= 1 << (index & 7);
  return bits;
}
