/** Every type of apache-arrow as a column of a table, and every extension that the JavaScript client knows, with two values. */
import type { DataType, Field, Vector } from "apache-arrow";
import { arrow, type Connection, type Table } from "../../service/served.ts";
import { lancedb } from "../../support/tables.ts";

export interface ColumnKind {
  readonly field: Field;
  readonly values: Vector;
}

const of = (
  type: DataType,
  values: readonly unknown[],
  metadata: Readonly<Record<string, string>> = {},
): ColumnKind => ({
  field: new arrow.Field("c", type, true, new Map(Object.entries(metadata))),
  values: vectorOf(type, values),
});

/** By a builder, because `vectorFromArray` has none of unions. */
function vectorOf(type: DataType, values: readonly unknown[]): Vector {
  const builder = arrow.makeBuilder({ type, nullValues: [null, undefined], valueToChildTypeId: () => 0 } as never);
  for (const value of values) builder.append(value as never);
  return builder.finish().toVector() as Vector;
}

const item = (type: DataType) => new arrow.Field("item", type, true);
const a = (type: DataType) => new arrow.Field("a", type, true);
const map = () =>
  new arrow.Map_(
    new arrow.Field(
      "entries",
      new arrow.Struct([
        new arrow.Field("key", new arrow.Utf8(), false),
        new arrow.Field("value", new arrow.Int32(), true),
      ]),
      false,
    ) as never,
  );
const extension = (name: string) => ({ "ARROW:extension:name": name, "ARROW:extension:metadata": "" });
const { TimeUnit } = arrow;

export const columnKinds: Readonly<Record<string, () => ColumnKind>> = {
  Null: () => of(new arrow.Null(), [null, null]),
  Bool: () => of(new arrow.Bool(), [true, null]),
  Int8: () => of(new arrow.Int8(), [-128, null]),
  Int16: () => of(new arrow.Int16(), [-32_768, null]),
  Int32: () => of(new arrow.Int32(), [-(2 ** 31), null]),
  Int64: () => of(new arrow.Int64(), [-(2n ** 63n), null]),
  Uint8: () => of(new arrow.Uint8(), [255, null]),
  Uint16: () => of(new arrow.Uint16(), [65_535, null]),
  Uint32: () => of(new arrow.Uint32(), [2 ** 32 - 1, null]),
  Uint64: () => of(new arrow.Uint64(), [2n ** 64n - 1n, null]),
  Float16: () => of(new arrow.Float16(), [1.5, null]),
  Float32: () => of(new arrow.Float32(), [1.5, null]),
  Float64: () => of(new arrow.Float64(), [1.1, null]),
  "Decimal, 128 bits": () => of(new arrow.Decimal(2, 20, 128), [new Uint32Array([12_345, 0, 0, 0]), null]),
  "Decimal, 256 bits": () => of(new arrow.Decimal(2, 50, 256), [new Uint32Array([12_345, 0, 0, 0, 0, 0, 0, 0]), null]),
  Utf8: () => of(new arrow.Utf8(), ["é", null]),
  LargeUtf8: () => of(new arrow.LargeUtf8(), ["é", null]),
  Binary: () => of(new arrow.Binary(), [new Uint8Array([0, 255]), null]),
  LargeBinary: () => of(new arrow.LargeBinary(), [new Uint8Array([0, 255]), null]),
  FixedSizeBinary: () => of(new arrow.FixedSizeBinary(2), [new Uint8Array([0, 255]), null]),
  DateDay: () => of(new arrow.DateDay(), [new Date(86_400_000), null]),
  DateMillisecond: () => of(new arrow.DateMillisecond(), [new Date(86_400_000), null]),
  TimeSecond: () => of(new arrow.TimeSecond(), [1, null]),
  TimeMillisecond: () => of(new arrow.TimeMillisecond(), [1, null]),
  TimeMicrosecond: () => of(new arrow.TimeMicrosecond(), [1n, null]),
  TimeNanosecond: () => of(new arrow.TimeNanosecond(), [1n, null]),
  TimestampSecond: () => of(new arrow.TimestampSecond(), [1_000, null]),
  TimestampMillisecond: () => of(new arrow.TimestampMillisecond(), [1_001, null]),
  TimestampMicrosecond: () => of(new arrow.TimestampMicrosecond(), [1_001, null]),
  TimestampNanosecond: () => of(new arrow.TimestampNanosecond(), [1_001, null]),
  "Timestamp in UTC": () => of(new arrow.Timestamp(TimeUnit.MICROSECOND, "UTC"), [1_001, null]),
  "Timestamp in Europe/Berlin": () => of(new arrow.Timestamp(TimeUnit.MILLISECOND, "Europe/Berlin"), [1_001, null]),
  "Timestamp at +02:00": () => of(new arrow.Timestamp(TimeUnit.MICROSECOND, "+02:00"), [1_001, null]),
  DurationSecond: () => of(new arrow.DurationSecond(), [1n, null]),
  DurationMillisecond: () => of(new arrow.DurationMillisecond(), [1n, null]),
  DurationMicrosecond: () => of(new arrow.DurationMicrosecond(), [1n, null]),
  DurationNanosecond: () => of(new arrow.DurationNanosecond(), [1n, null]),
  IntervalDayTime: () => of(new arrow.IntervalDayTime(), [new Int32Array([1, 2]), null]),
  IntervalYearMonth: () => of(new arrow.IntervalYearMonth(), [new Int32Array([14]), null]),
  "Dictionary of Utf8": () => of(new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32()), ["a", null]),
  "Dictionary of Int64": () => of(new arrow.Dictionary(new arrow.Int64(), new arrow.Int8()), [7n, null]),
  "List of Int32": () => of(new arrow.List(item(new arrow.Int32())), [[1, 2], null]),
  "List of List": () => of(new arrow.List(item(new arrow.List(item(new arrow.Utf8())))), [[["a"], []], null]),
  "List of Struct": () => of(new arrow.List(item(new arrow.Struct([a(new arrow.Int32())]))), [[{ a: 1 }], null]),
  "FixedSizeList of Float32": () =>
    of(new arrow.FixedSizeList(2, item(new arrow.Float32())), [
      [1, 2],
      [3, 4],
    ]),
  "FixedSizeList of Float16": () =>
    of(new arrow.FixedSizeList(2, item(new arrow.Float16())), [
      [1, 2],
      [3, 4],
    ]),
  "FixedSizeList of Uint8": () =>
    of(new arrow.FixedSizeList(2, item(new arrow.Uint8())), [
      [1, 2],
      [3, 4],
    ]),
  "FixedSizeList of Utf8": () =>
    of(new arrow.FixedSizeList(2, item(new arrow.Utf8())), [
      ["a", "b"],
      ["c", "d"],
    ]),
  "FixedSizeList of Struct": () =>
    of(new arrow.FixedSizeList(2, item(new arrow.Struct([a(new arrow.Int32())]))), [
      [{ a: 1 }, { a: 2 }],
      [{ a: 3 }, { a: 4 }],
    ]),
  Struct: () => of(new arrow.Struct([a(new arrow.Int32())]), [{ a: 1 }, null]),
  "Struct of Struct": () =>
    of(new arrow.Struct([a(new arrow.Struct([a(new arrow.Utf8())]))]), [{ a: { a: "x" } }, null]),
  "Struct of List": () => of(new arrow.Struct([a(new arrow.List(item(new arrow.Utf8())))]), [{ a: ["x"] }, { a: [] }]),
  "Struct without fields": () => of(new arrow.Struct([]), [{}, {}]),
  Map: () => of(map(), [new Map([["a", 1]]), null]),
  "List of Map": () => of(new arrow.List(item(map())), [[new Map([["a", 1]])], null]),
  "Struct of Map": () => of(new arrow.Struct([a(map())]), [{ a: new Map([["a", 1]]) }, null]),
  DenseUnion: () => of(new arrow.DenseUnion([0], [a(new arrow.Int32())]), [1, 2]),
  SparseUnion: () => of(new arrow.SparseUnion([0], [a(new arrow.Int32())]), [1, 2]),
  "JSON (arrow.json)": () => of(new arrow.Utf8(), ['{"a":1}', null], extension("arrow.json")),
  "JSON (lance.json)": () => of(new arrow.LargeBinary(), [null, null], extension("lance.json")),
  "blob()": () => {
    const field = lancedb.blob("c") as unknown as Field;
    return { field, values: vectorOf(field.type, [{ data: new Uint8Array([1]), uri: null }, null]) };
  },
  "blob in LargeBinary": () =>
    of(new arrow.LargeBinary(), [new Uint8Array([1]), null], { "lance-encoding:blob": "true" }),
  bfloat16: () => of(new arrow.FixedSizeBinary(2), [new Uint8Array([0, 63]), null], extension("lance.bfloat16")),
  UUID: () => of(new arrow.FixedSizeBinary(16), [new Uint8Array(16), null], extension("arrow.uuid")),
  "image URI": () => of(new arrow.Utf8(), ["file:///a.png", null], extension("lance.arrow.image_uri")),
};

/** The classes of types of apache-arrow that are in no row. */
export function typesWithoutRow(): readonly string[] {
  const known = Object.values(columnKinds).flatMap((kind) => typesWithin(kind().field.type));
  const classes = Object.entries(arrow).filter(
    ([, one]) => (one as Partial<Function>).prototype instanceof arrow.DataType,
  );
  return classes.filter(([, one]) => !known.some((type) => type instanceof (one as never))).map(([name]) => name);
}

function typesWithin(type: DataType): readonly DataType[] {
  return [type, ...(type.children ?? []).flatMap((child: Field) => typesWithin(child.type))];
}

/** What is done in turn with a table that has such a column. */
export function actsOn(
  name: string,
  kind: () => ColumnKind,
): Readonly<Record<string, (db: Connection) => Promise<unknown>>> {
  const { field, values } = kind();
  const schema = new arrow.Schema([new arrow.Field("id", new arrow.Int32(), true), field]);
  const rows = (ids: readonly number[]) =>
    new arrow.Table(schema, { id: arrow.vectorFromArray(ids, new arrow.Int32()), c: values } as never) as never;
  const onTable = (work: (table: Table) => Promise<unknown>) => async (db: Connection) =>
    await work(await db.openTable(name));
  const read = (where?: string) =>
    onTable(async (table) => {
      const query = table.query();
      const found = await (where === undefined ? query : query.where(where)).toArray();
      return found.map(String).toSorted();
    });
  const merge = (table: Table) =>
    table
      .mergeInsert("id")
      .whenMatchedUpdateAll()
      .whenNotMatchedInsertAll()
      .execute(rows([4, 5]));
  return {
    create: async (db) => void (await db.createTable(name, rows([1, 2]))),
    read: read(),
    filter: read("c is not null"),
    append: onTable((table) => table.add(rows([3, 4]))),
    merge: onTable(merge),
    "update to null": onTable((table) => table.update({ where: "id = 1", valuesSql: { c: "null" } })),
    delete: onTable((table) => table.delete("id = 2")),
    rename: onTable((table) => table.alterColumns([{ path: "c", rename: "d" }])),
    "copy by SQL": onTable((table) => table.addColumns([{ name: "copy", valueSql: "d" }])),
    "read again": read(),
    drop: onTable((table) => table.dropColumns(["d"])),
  };
}
