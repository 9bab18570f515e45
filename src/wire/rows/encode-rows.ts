/** Encodes rows of migrations as Arrow IPC with apache-arrow. Loaded when rows are sent. */
import * as arrow from "apache-arrow";
import type { Column, DataType } from "../../schema/data-type.ts";
import { ticksOf } from "../../schema/iso-time.ts";
import { valueIn, type RowValue, type RowValues } from "../../schema/row-values.ts";
import { toArrow, toArrowField } from "../arrow/arrow-type.ts";

/** Encodes the given columns of the rows. `metadata` is that of the schema. */
export function valuesToIpc(
  columns: readonly Column[],
  rows: readonly RowValues[],
  format: "file" | "stream",
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  const fields = columns.map(toArrowField);
  const children = columns.map(({ name, type }) =>
    toData(
      rows.map((row) => valueIn(row, name)),
      type,
    ),
  );
  const data = arrow.makeData({ type: new arrow.Struct(fields), length: rows.length, nullCount: 0, children });
  const schema = new arrow.Schema(fields, new Map(Object.entries(metadata)));
  return arrow.tableToIPC(new arrow.Table([new arrow.RecordBatch(schema, data)]), format);
}

/** The columns for which some row has a value. A merge itself fills the other columns with nulls. */
export function givenColumns(columns: readonly Column[], rows: readonly RowValues[]): readonly Column[] {
  return columns.filter(({ name }) => rows.some((row) => valueIn(row, name) !== null));
}

type Values = readonly RowValue[];

/** The package's own builders reserve no space for a null vector, and handle nanoseconds as floats. */
function toData(values: Values, type: DataType): arrow.Data {
  const made = { type: toArrow(type), length: values.length, ...nullsOf(values) };
  switch (type.kind) {
    case "struct": {
      const of = (name: string) => values.map((value) => (value as RowValues | null)?.[name] ?? null);
      return arrow.makeData({
        ...(made as typeof made & { type: arrow.Struct }),
        children: type.fields.map((field) => toData(of(field.name), field.type)),
      });
    }
    case "list": {
      const lists = values.map((value) => (value as Values | null) ?? []);
      const ends = new Int32Array(lists.length + 1);
      for (const [index, { length }] of lists.entries()) ends[index + 1] = ends[index]! + length;
      return arrow.makeData({
        ...(made as typeof made & { type: arrow.List }),
        valueOffsets: ends,
        child: toData(lists.flat(), type.item.type),
      });
    }
    case "fixedSizeList": {
      const none = Array.from({ length: type.length }, () => null);
      return arrow.makeData({
        ...(made as typeof made & { type: arrow.FixedSizeList }),
        child: toData(
          values.flatMap((value) => (value as Values | null) ?? none),
          type.item.type,
        ),
      });
    }
    case "timestamp": {
      const data = BigInt64Array.from(values, (value) => (value === null ? 0n : ticksOf(value as string, type.unit)!));
      return arrow.makeData({ ...(made as typeof made & { type: arrow.Timestamp }), data });
    }
    // The package omits the bits of bools that are all null, but not bytes, so the bits are passed as bytes.
    case "bool":
      return arrow.makeData({ ...made, type: new arrow.Uint8(), data: bitsOf(values.map((value) => value === true)) });
    default: {
      const { data } = arrow.vectorFromArray(
        values.map((value) => toValue(value, type)),
        made.type,
      );
      const { valueOffsets, values: bytes, typeIds } = data[0]!;
      return data[0]!.clone(made.type, 0, made.length, made.nullCount, [valueOffsets, bytes, made.nullBitmap, typeIds]);
    }
  }
}

function nullsOf(values: Values): { readonly nullCount: number; readonly nullBitmap: Uint8Array } {
  const nullBitmap = bitsOf(values.map((value) => value !== null));
  return { nullCount: values.filter((value) => value === null).length, nullBitmap };
}

function bitsOf(flags: readonly boolean[]): Uint8Array {
  const bits = new Uint8Array(Math.ceil(flags.length / 8));
  for (const [index, flag] of flags.entries()) if (flag) bits[index >> 3]! |= 1 << (index & 7);
  return bits;
}

/** One value for the package's builder; for a null, a value of the same width. */
function toValue(value: RowValue, { kind }: DataType): unknown {
  if (kind === "utf8" || kind === "largeUtf8") return value ?? "";
  if (kind === "int64" || kind === "uint64") return BigInt((value as string | number | null) ?? 0);
  if (kind === "date32") return value === null ? new Date(0) : new Date(`${value as string}T00:00:00Z`);
  // Integers may be given as text.
  return Number(value);
}
