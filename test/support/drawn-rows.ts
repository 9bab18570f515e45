/** Rows of any columns that apache-arrow can write, with small values and no nulls: always the same ones. */
import * as arrow from "apache-arrow";
import type { Column, DataType } from "../../src/schema/data-type.ts";
import { widthOf } from "../../src/schema/type-width.ts";
import { toIpcFile } from "../../src/wire/arrow/arrow-schema.ts";

/** An Arrow IPC file with this many rows. The schema has no metadata. */
export function drawnRows(columns: readonly Column[], rows: number): Buffer {
  const { fields } = arrow.tableFromIPC(toIpcFile(columns)).schema;
  const children = columns.map((column, index) => toData(column, rows, index + 1));
  const data = arrow.makeData({ type: new arrow.Struct(fields), length: rows, nullCount: 0, children });
  const table = new arrow.Table([new arrow.RecordBatch(new arrow.Schema(fields), data)]);
  return Buffer.from(arrow.tableToIPC(table, "file"));
}

function toData(column: Column, length: number, salt: number): arrow.Data {
  const { type } = column;
  const [field] = arrow.tableFromIPC(toIpcFile([column])).schema.fields;
  const given = { type: field!.type as arrow.DataType, length, nullCount: 0 };
  const inner = (child: Column, count: number, at = 0) => toData(child, count, salt * 31 + at + 1);
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
      const lengths = Array.from({ length }, (_, row) => mixed(row, salt) % 4);
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
        child: inner(type.item, length * type.length),
      });
    case "dictionary": {
      const known = { name: column.name, type: type.value, nullable: false };
      const values = inner(known, 5);
      const data = bytesOf(type.index, length, (row) => BigInt(mixed(row, salt) % 5));
      return arrow.makeData({
        ...(made as typeof given & { type: arrow.Dictionary }),
        data: data as never,
        dictionary: new arrow.Vector([values]),
      });
    }
    case "bool": {
      const data = bitsOf(Array.from({ length }, (_, row) => mixed(row, salt) % 2 === 1));
      return arrow.makeData({ ...(made as typeof given & { type: arrow.Bool }), data });
    }
    default:
      return byteWidth(type) > 0
        ? arrow.makeData({
            ...made,
            data: bytesOf(type, length, (row) => plainOf(type, mixed(row, salt))),
          } as never)
        : textsOf(type, length, made, salt);
  }
}

function textsOf(type: DataType, length: number, made: { readonly type: never }, salt: number): arrow.Data {
  const texts = Array.from({ length }, (_, row) => Buffer.from(`text ${mixed(row, salt) % 1000}`));
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

function bitsOf(flags: readonly boolean[]): Uint8Array {
  const bits = new Uint8Array(Math.ceil(flags.length / 8));
  for (const [index, flag] of flags.entries()) if (flag) bits[index >> 3]! |= 1 << (index & 7);
  return bits;
}

/** A number from 0 to 2^32 - 1 that looks random but depends only on the arguments. */
function mixed(row: number, salt: number): number {
  let hash = Math.imul(row + 1, 0x9e37_79b1) ^ Math.imul(salt + 1, 0x85eb_ca77);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a_2d39);
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** Bytes per value; 0 if the values differ in width. */
function byteWidth(type: DataType): number {
  const { fixed, variable } = widthOf(type);
  return variable === 0 ? fixed : 0;
}

const day = 86_400_000n;

/** A value of a fixed-width type, as the integer with the same bits. */
function plainOf(type: DataType, number: number): bigint {
  const small = BigInt(number % 100);
  switch (type.kind) {
    case "float16":
    case "float32":
    case "float64":
      return floatBits(type.kind, Number(small) / 4);
    case "date64":
      return small * day;
    case "fixedSizeBinary":
      return BigInt.asUintN(8 * type.length, BigInt(number) * 0x1_0000_0001n);
    case "decimal128":
      return small % 10n ** BigInt(type.precision);
    default:
      return small;
  }
}

function floatBits(kind: "float16" | "float32" | "float64", value: number): bigint {
  const bytes = Buffer.alloc(8);
  if (kind === "float64") bytes.writeDoubleLE(value);
  else bytes.writeFloatLE(value);
  if (kind !== "float16") return kind === "float64" ? bytes.readBigUInt64LE() : BigInt(bytes.readUInt32LE());
  // Quarters below 25 are exact as float16: exponent and mantissa only move to their narrower places.
  const bits = bytes.readUInt32LE();
  return value === 0 ? 0n : BigInt((((bits >>> 23) - 112) << 10) | ((bits >>> 13) & 0x3ff));
}
