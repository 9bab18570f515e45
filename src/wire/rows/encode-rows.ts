/** Encodes rows as Arrow IPC with apache-arrow. Loaded when rows are sent. */
import * as arrow from "apache-arrow";
import { timeUnits, type Column } from "../../schema/data-type.ts";
import { ticksOf } from "../../schema/iso-time.ts";
import { valueIn, type RowValue, type RowValues } from "../../schema/row-values.ts";
import { toIpcFile } from "../arrow/arrow-schema.ts";

/** Encodes the given columns of the rows. `metadata` is that of the schema. */
export function valuesToIpc(
  columns: readonly Column[],
  rows: readonly RowValues[],
  format: "file" | "stream",
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  const { schema } = arrow.tableFromIPC(toIpcFile(columns, metadata));
  return toIpc(schema, rows, format);
}

/** The columns for which some row has a value. A merge itself fills the other columns with nulls. */
export function givenColumns(columns: readonly Column[], rows: readonly RowValues[]): readonly Column[] {
  return columns.filter(({ name }) => rows.some((row) => valueIn(row, name) !== null));
}

function toIpc(schema: arrow.Schema, rows: readonly RowValues[], format: "file" | "stream"): Uint8Array {
  const { fields } = schema;
  const children = fields.map(({ name, type }) =>
    toData(
      rows.map((row) => valueIn(row, name)),
      type as arrow.DataType,
    ),
  );
  const data = arrow.makeData({ type: new arrow.Struct(fields), length: rows.length, nullCount: 0, children });
  return arrow.tableToIPC(new arrow.Table([new arrow.RecordBatch(schema, data)]), format);
}

type Values = readonly RowValue[];

/** The package's own builders reserve no space for a null vector, and handle nanoseconds as floats. */
function toData(values: Values, type: arrow.DataType): arrow.Data {
  const nullBitmap = bitsOf(values.map((value) => value !== null));
  const common = { length: values.length, nullCount: values.filter((value) => value === null).length, nullBitmap };
  if (arrow.DataType.isStruct(type)) {
    const of = (name: string) => values.map((value) => (value as RowValues | null)?.[name] ?? null);
    const children = type.children.map((field) => toData(of(field.name), field.type as arrow.DataType));
    return arrow.makeData({ ...common, type, children });
  }
  if (arrow.DataType.isList(type)) {
    const lists = values.map((value) => Array.from((value as Values | null) ?? []));
    const valueOffsets = new Int32Array(lists.length + 1);
    for (const [index, { length }] of lists.entries()) valueOffsets[index + 1] = valueOffsets[index]! + length;
    return arrow.makeData({ ...common, type, valueOffsets, child: toData(lists.flat(), type.valueType) });
  }
  if (arrow.DataType.isFixedSizeList(type)) {
    if (isFloat32(type.valueType) && values.every((value) => value === null || !(value as Values).includes(null)))
      return arrow.makeData({ ...common, type, child: floatsOf(values, type.listSize, type.valueType) });
    const none = Array.from({ length: type.listSize }, () => null);
    const items = values.flatMap((value) => Array.from((value as Values | null) ?? none));
    return arrow.makeData({ ...common, type, child: toData(items, type.valueType) });
  }
  if (arrow.DataType.isTimestamp(type)) {
    const unit = timeUnits[type.unit]!;
    const data = BigInt64Array.from(values, (value) => (value === null ? 0n : ticksOf(value as string, unit)!));
    return arrow.makeData({ ...common, type, data });
  }
  // The package omits the bits of bools that are all null, but not bytes, so the bits are passed as bytes.
  if (arrow.DataType.isBool(type))
    return arrow.makeData({ ...common, type: new arrow.Uint8(), data: bitsOf(values.map((value) => value === true)) });
  if (arrow.DataType.isUtf8(type)) return arrow.makeData({ ...common, type, ...textBuffers(values) });
  if (arrow.DataType.isInt(type) && type.bitWidth === 64 && type.isSigned)
    return arrow.makeData({ ...common, type, data: BigInt64Array.from(values, toInteger) });
  const { data } = arrow.vectorFromArray(
    values.map((value) => toValue(value, type)),
    type,
  );
  const built = data[0] ?? arrow.makeData({ type, length: 0 });
  const buffers = [built.valueOffsets, built.values, nullBitmap, built.typeIds] as const;
  return built.clone(type, 0, common.length, common.nullCount, [...buffers]);
}

function isFloat32(type: arrow.DataType): type is arrow.Float {
  return arrow.DataType.isFloat(type) && type.precision === arrow.Precision.SINGLE;
}

/** The numbers of all vectors, in one piece: there may be millions. */
function floatsOf(values: Values, size: number, type: arrow.Float): arrow.Data {
  const data = new Float32Array(values.length * size);
  for (const [index, value] of values.entries())
    if (value !== null) data.set(value as unknown as ArrayLike<number>, index * size);
  return arrow.makeData({ type, length: data.length, nullCount: 0, data });
}

/** Each text is encoded on its own: halves of a character in two texts are no character. */
function textBuffers(values: Values): { readonly valueOffsets: Int32Array; readonly data: Uint8Array } {
  const texts = values.map((value) => Buffer.from(String(value ?? "")));
  const valueOffsets = new Int32Array(texts.length + 1);
  for (const [index, { length }] of texts.entries()) valueOffsets[index + 1] = valueOffsets[index]! + length;
  return { valueOffsets, data: Buffer.concat(texts) };
}

function toInteger(value: RowValue): bigint {
  return BigInt((value as string | number | null) ?? 0);
}

function bitsOf(flags: readonly boolean[]): Uint8Array {
  const bits = new Uint8Array(Math.ceil(flags.length / 8));
  for (const [index, flag] of flags.entries()) if (flag) bits[index >> 3]! |= 1 << (index & 7);
  return bits;
}

/** One value for the package's builder; for a null, a value of the same width. */
function toValue(value: RowValue, type: arrow.DataType): unknown {
  if (arrow.DataType.isUtf8(type) || arrow.DataType.isLargeUtf8(type)) return value ?? "";
  if (arrow.DataType.isInt(type) && type.bitWidth === 64) return toInteger(value);
  if (arrow.DataType.isDate(type)) return value === null ? new Date(0) : new Date(`${value as string}T00:00:00Z`);
  // Integers may be given as text.
  return Number(value);
}
