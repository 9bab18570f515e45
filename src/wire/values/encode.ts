/**
 * Values of rows as Arrow arrays. Not with the builders of apache-arrow, which round numbers of 16 bits wrongly, handle
 * nanoseconds as floats, and reserve no space for a null vector. test/oracle compares with what pyarrow reads.
 */
import { bits, isInteger, type Column, type DataType } from "../../schema/data-type.ts";
import { storedType } from "../../schema/reserved-metadata.ts";
import { float16Bits } from "../../schema/float16.ts";
import { dayOf, ticksOf } from "../../time/iso-time.ts";
import { valueIn, type RowValue, type RowValues } from "../../schema/row-values.ts";
import { bitsOf, emptyArray, isLarge, type ArrayData } from "../arrow/array-data.ts";

type ColumnValues = readonly RowValue[];

const none = Buffer.alloc(0);

/**
 * The values have the type: rows are checked before (schema/row-values.ts). A timestamp may also be the number of its units.
 * Throws for a type that rows can't hold.
 */
export function encode(given: DataType, values: ColumnValues): ArrayData {
  const type = storedType(given);
  if (values.length === 0) return emptyArray(type);
  const nulls = values.reduce<number>((sum, value) => (value === null ? sum + 1 : sum), 0);
  const validity = nulls === 0 ? none : bitsOf(values.map((value) => value !== null));
  const { buffers = [], children = [] } = contentOf(type, values);
  return { type, length: values.length, nulls, validity, buffers, children };
}

/** The columns of rows. */
export function encodeRows(columns: readonly Column[], rows: readonly RowValues[]): readonly ArrayData[] {
  return columns.map(({ name, type }) =>
    encode(
      type,
      rows.map((row) => valueIn(row, name)),
    ),
  );
}

function contentOf(type: DataType, values: ColumnValues): Partial<Pick<ArrayData, "buffers" | "children">> {
  switch (type.kind) {
    case "null":
      return {};
    case "bool":
      return { buffers: [bitsOf(values.map((value) => value === true))] };
    case "float16":
      return numbers(Uint16Array.from(values, (value) => float16Bits(Number(value))));
    case "float32":
      return numbers(Float32Array.from(values as readonly number[]));
    case "float64":
      return numbers(Float64Array.from(values as readonly number[]));
    case "date32":
      return numbers(Int32Array.from(values, (value) => (value === null ? 0 : dayOf(value as string)!)));
    case "timestamp":
      return numbers(
        BigInt64Array.from(values, (value) =>
          typeof value === "string" ? ticksOf(value, type.unit)! : BigInt((value as number | null) ?? 0),
        ),
      );
    case "utf8":
    case "largeUtf8":
      return texts(type, values);
    case "list":
    case "largeList":
      return lists(type, values);
    case "fixedSizeList":
      return { children: [items(type, values)] };
    case "struct":
      return {
        children: encodeRows(
          type.fields,
          values.map((value) => (value ?? {}) as RowValues),
        ),
      };
    default:
      if (isInteger(type)) return numbers(integers(type, values));
      throw new TypeError(`migrations hold no values of type ${type.kind}`);
  }
}

function numbers(array: NodeJS.TypedArray): { readonly buffers: readonly Buffer[] } {
  return { buffers: [Buffer.from(array.buffer, array.byteOffset, array.byteLength)] };
}

/** Those with and without a sign have the same bits. They may be given as text. */
function integers(type: DataType, values: ColumnValues): NodeJS.TypedArray {
  switch (bits(type)) {
    case 8:
      return Int8Array.from(values, Number);
    case 16:
      return Int16Array.from(values, Number);
    case 32:
      return Int32Array.from(values, Number);
    default:
      return longs(values);
  }
}

/** Most of them are small, for which a BigInt takes several times as long. */
function longs(values: ColumnValues): BigInt64Array {
  const all = new BigInt64Array(values.length);
  const halves = new Int32Array(all.buffer);
  for (const [at, value] of values.entries())
    if (typeof value === "number" && Number.isSafeInteger(value)) {
      halves[at * 2] = value | 0;
      halves[at * 2 + 1] = Math.floor(value / 2 ** 32);
    } else all[at] = BigInt((value as string | number | null) ?? 0);
  return all;
}

function texts(type: DataType, values: ColumnValues): { readonly buffers: readonly Buffer[] } {
  let last: { readonly text: RowValue; readonly bytes: Buffer } = { text: null, bytes: none };
  // Many are the same as the one before.
  const encoded = values.map((text) => {
    if (text !== last.text) last = { text, bytes: text === null ? none : Buffer.from(text as string) };
    return last.bytes;
  });
  return { buffers: [offsets(type, encoded), Buffer.concat(encoded)] };
}

function lists(type: DataType & { readonly item: Column }, values: ColumnValues) {
  const all = values.map((value) => (value === null ? [] : Array.from(value as ColumnValues)));
  return { buffers: [offsets(type, all)], children: [encode(type.item.type, all.flat())] };
}

function offsets(type: DataType, parts: readonly { readonly length: number }[]): Buffer {
  const ends = isLarge(type) ? new BigInt64Array(parts.length + 1) : new Int32Array(parts.length + 1);
  let end = 0;
  for (const [at, { length }] of parts.entries()) {
    end += length;
    ends[at + 1] = ends instanceof BigInt64Array ? BigInt(end) : end;
  }
  return Buffer.from(ends.buffer);
}

/** The items of all lists, one after the other. A null has as many as the others. */
function items({ item, length }: DataType & { readonly kind: "fixedSizeList" }, values: ColumnValues): ArrayData {
  const lists = values as readonly (readonly RowValue[] | Float32Array | null)[];
  if (item.type.kind === "float32" && lists.every((one) => one === null || !(one as ColumnValues).includes(null))) {
    // There may be millions, and no array of all of them.
    const all = new Float32Array(lists.length * length);
    for (const [at, one] of lists.entries()) if (one !== null) all.set(one as Float32Array, at * length);
    return { type: item.type, length: all.length, nulls: 0, validity: none, ...numbers(all), children: [] };
  }
  const empty = Array.from({ length }, () => null);
  return encode(
    item.type,
    lists.flatMap((one) => (one === null ? empty : Array.from(one as ColumnValues))),
  );
}
