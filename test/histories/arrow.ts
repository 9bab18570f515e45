/** Rows as the official client takes them, with NaN, nulls and bytes as they are. */
import { createRequire } from "node:module";
import type * as Arrow from "apache-arrow";
import type { Raw } from "./values.ts";

/** The copy that @lancedb/lancedb itself loads, so that its `instanceof` holds. */
const arrow = createRequire(import.meta.url)("apache-arrow") as typeof Arrow;

/** These columns of the rows; a table may have more. */
export function tableOf(
  schema: Arrow.Schema,
  names: readonly string[],
  rows: readonly Readonly<Record<string, Raw>>[],
): Arrow.Table {
  const fields = schema.fields.filter(({ name }) => names.includes(name));
  const children = fields.map(({ name, type }) =>
    toData(
      rows.map((row) => row[name] ?? null),
      type,
    ),
  );
  const own = new arrow.Schema(fields);
  const data = arrow.makeData({ type: new arrow.Struct(fields), length: rows.length, nullCount: 0, children });
  return new arrow.Table(own, [new arrow.RecordBatch(own, data)]);
}

/** The package's own builders leave out the space of nulls at the end. */
function toData(values: readonly Raw[], type: Arrow.DataType): Arrow.Data {
  const { DataType } = arrow;
  const nullCount = values.filter((value) => value === null).length;
  const made = { length: values.length, nullCount, nullBitmap: bitsOf(values.map((value) => value !== null)) };
  if (DataType.isStruct(type)) {
    const children = type.children.map((child) =>
      toData(
        values.map((value) => (value as Readonly<Record<string, Raw>> | null)?.[child.name] ?? null),
        child.type,
      ),
    );
    return arrow.makeData({ ...made, type, children });
  }
  if (DataType.isFixedSizeList(type)) {
    const none = Array.from({ length: type.listSize }, () => null);
    const child = toData(
      values.flatMap((value) => (value as readonly Raw[] | null) ?? none),
      type.children[0]!.type,
    );
    return arrow.makeData({ ...made, type, child });
  }
  if (DataType.isList(type)) {
    const lists = values.map((value) => (value as readonly Raw[] | null) ?? []);
    const valueOffsets = new Int32Array(lists.length + 1);
    for (const [index, { length }] of lists.entries()) valueOffsets[index + 1] = valueOffsets[index]! + length;
    return arrow.makeData({ ...made, type, valueOffsets, child: toData(lists.flat(), type.children[0]!.type) });
  }
  if (DataType.isBool(type))
    return arrow.makeData({ ...made, type, data: bitsOf(values.map((value) => value === true)) });
  const filled = values.map((value) => value ?? placeholder(type));
  if (filled.length === 0) return arrow.makeData({ ...made, type } as never);
  const [whole] = arrow.vectorFromArray(filled, type).data;
  const { valueOffsets, values: bytes, typeIds } = whole!;
  return whole!.clone(type, 0, values.length, nullCount, [valueOffsets, bytes, made.nullBitmap, typeIds]);
}

function placeholder(type: Arrow.DataType): Raw {
  if (arrow.DataType.isUtf8(type) || arrow.DataType.isLargeUtf8(type)) return "";
  if (arrow.DataType.isBinary(type) || arrow.DataType.isLargeBinary(type)) return new Uint8Array();
  return arrow.DataType.isInt(type) && type.bitWidth === 64 ? 0n : 0;
}

function bitsOf(flags: readonly boolean[]): Uint8Array {
  const bits = new Uint8Array(Math.ceil(flags.length / 64) * 8 || 8);
  for (const [index, flag] of flags.entries()) if (flag) bits[index >> 3]! |= 1 << (index & 7);
  return bits;
}
