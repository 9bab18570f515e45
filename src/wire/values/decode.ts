/** Values of Arrow arrays as rows have them. Not by apache-arrow, which drops a byte order mark, and digits of times. */
import { float16Of } from "../../schema/float16.ts";
import { dateOf, timeOf } from "../../time/iso-time.ts";
import type { RowValue } from "../../schema/row-values.ts";
import { bitAt, isNullAt, offsetAt, wholeAt, type ArrayData } from "../arrow/array-data.ts";

/**
 * Whole numbers that a JavaScript number can't hold are text, as are dates and times (ISO 8601) and decimals. A duration,
 * or a time of day, is the number of its units. Bytes are a Uint8Array, and a vector of float32 is a Float32Array.
 */
export function valueAt(array: ArrayData, at: number): RowValue {
  return isNullAt(array, at) ? null : presentAt(array, at);
}

function presentAt(array: ArrayData, at: number): RowValue {
  const { type, buffers, children, dictionary } = array;
  const [bytes] = buffers as readonly [Buffer];
  switch (type.kind) {
    case "bool":
      return bitAt(bytes, at);
    case "float16":
      return float16Of(bytes.readUInt16LE(at * 2));
    case "float32":
      return bytes.readFloatLE(at * 4);
    case "float64":
      return bytes.readDoubleLE(at * 8);
    case "utf8":
    case "largeUtf8":
      return buffers[1]!.toString("utf8", offsetAt(array, at), offsetAt(array, at + 1));
    case "binary":
    case "largeBinary":
      return copyOf(buffers[1]!.subarray(offsetAt(array, at), offsetAt(array, at + 1)));
    case "fixedSizeBinary":
      return copyOf(bytes.subarray(at * type.length, (at + 1) * type.length));
    case "date32":
      return dateOf(bytes.readInt32LE(at * 4));
    case "date64":
      return timeOf(bytes.readBigInt64LE(at * 8), "ms").replace(/T00:00:00\.000Z$/, "");
    case "timestamp":
      return timeOf(bytes.readBigInt64LE(at * 8), type.unit);
    case "decimal128":
      return decimalOf((bytes.readBigInt64LE(at * 16 + 8) << 64n) | bytes.readBigUInt64LE(at * 16), type.scale);
    case "list":
    case "largeList":
      return listOf(children[0]!, offsetAt(array, at), offsetAt(array, at + 1));
    case "fixedSizeList":
      return vectorOf(children[0]!, at * type.length, (at + 1) * type.length);
    case "struct":
      return Object.fromEntries(type.fields.map(({ name }, field) => [name, valueAt(children[field]!, at)]));
    case "dictionary":
      return valueAt(dictionary!, Number(wholeAt(type.index, bytes, at)));
    default:
      return plainWhole(wholeAt(type, bytes, at));
  }
}

function listOf(items: ArrayData, from: number, to: number): readonly RowValue[] {
  return Array.from({ length: to - from }, (_, index) => valueAt(items, from + index));
}

/** There may be a hundred thousand vectors of a thousand numbers. */
function vectorOf(items: ArrayData, from: number, to: number): RowValue {
  if (items.type.kind !== "float32" || items.nulls > 0) return listOf(items, from, to);
  const bytes = copyOf(items.buffers[0]!.subarray(from * 4, to * 4)) as unknown as Uint8Array;
  return new Float32Array(bytes.buffer) as unknown as readonly number[];
}

/** What is read may be a part of much more, which would stay in memory. Floats have to begin at a multiple of four bytes. */
function copyOf(bytes: Buffer): RowValue {
  return new Uint8Array(bytes) as unknown as RowValue;
}

function plainWhole(value: number | bigint): number | string {
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

function decimalOf(unscaled: bigint, scale: number): string {
  const sign = unscaled < 0n ? "-" : "";
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, "0");
  if (scale <= 0) return `${sign}${digits}${digits === "0" ? "" : "0".repeat(-scale)}`;
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
