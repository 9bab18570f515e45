/** A database that somebody else's program has made, with nothing of ours: several tables, all types, indexes, rows. */
import { createRequire } from "node:module";
import { lancedb } from "./tables.ts";

// The engine's own copy, as CommonJS.
export const arrow = createRequire(import.meta.url)("apache-arrow") as typeof import("apache-arrow");
const { Field, Schema } = arrow;
type Type = import("apache-arrow").DataType;
type ArrowField = import("apache-arrow").Field;

export const field = (name: string, type: Type, nullable = true, metadata: Readonly<Record<string, string>> = {}) =>
  new Field(name, type, nullable, new Map(Object.entries(metadata)));

/** Every type that the engine's client can make. */
const types: Readonly<Record<string, Type>> = {
  null: new arrow.Null(),
  bool: new arrow.Bool(),
  int8: new arrow.Int8(),
  int16: new arrow.Int16(),
  int32: new arrow.Int32(),
  int64: new arrow.Int64(),
  uint8: new arrow.Uint8(),
  uint16: new arrow.Uint16(),
  uint32: new arrow.Uint32(),
  uint64: new arrow.Uint64(),
  float16: new arrow.Float16(),
  float32: new arrow.Float32(),
  float64: new arrow.Float64(),
  utf8: new arrow.Utf8(),
  largeUtf8: new arrow.LargeUtf8(),
  binary: new arrow.Binary(),
  largeBinary: new arrow.LargeBinary(),
  fixedSizeBinary: new arrow.FixedSizeBinary(4),
  decimal: new arrow.Decimal(2, 10, 128),
  date32: new arrow.DateDay(),
  date64: new arrow.DateMillisecond(),
  time32_s: new arrow.TimeSecond(),
  time32_ms: new arrow.TimeMillisecond(),
  time64_us: new arrow.TimeMicrosecond(),
  time64_ns: new arrow.TimeNanosecond(),
  timestamp_s: new arrow.TimestampSecond(),
  timestamp_ms: new arrow.TimestampMillisecond("UTC"),
  timestamp_us: new arrow.TimestampMicrosecond("Europe/Berlin"),
  timestamp_ns: new arrow.TimestampNanosecond("America/New_York"),
  duration_s: new arrow.DurationSecond(),
  duration_ms: new arrow.DurationMillisecond(),
  duration_us: new arrow.DurationMicrosecond(),
  duration_ns: new arrow.DurationNanosecond(),
  list: new arrow.List(field("item", new arrow.Utf8(), false)),
  lists: new arrow.List(field("item", new arrow.List(field("item", new arrow.Int16())))),
  list_of_structs: new arrow.List(field("item", new arrow.Struct([field("q", new arrow.Utf8(), false)]))),
  fixedSizeList: new arrow.FixedSizeList(3, field("item", new arrow.Uint8())),
  vector: new arrow.FixedSizeList(4, field("item", new arrow.Float32())),
  vector16: new arrow.FixedSizeList(4, field("item", new arrow.Float16())),
  vector64: new arrow.FixedSizeList(4, field("item", new arrow.Float64())),
  dictionary: new arrow.Dictionary(new arrow.Utf8(), new arrow.Int8()),
  dictionary_of_numbers: new arrow.Dictionary(new arrow.Int64(), new arrow.Uint16()),
  struct: new arrow.Struct([
    field(
      "inner",
      new arrow.Struct([field("deep", new arrow.Float32(), false), field("Ünïcode 名", new arrow.Bool())]),
    ),
    field("at", new arrow.TimestampMicrosecond("UTC"), false),
  ]),
};

const oddColumns = [
  "class",
  "7",
  "2",
  "with space",
  "a-b",
  "it's",
  'say "hi"',
  "日本",
  "columns",
  "Upper",
  "__proto__",
];

export const foreignTables = ["Orders-2024.v2", "documents", "empty", "every_type", "required_types"];

/** Makes it in a folder, or in a service that its client is connected to. */
export async function makeForeign(place: string): Promise<void> {
  const db = await lancedb.connect(place);
  const documents = new Schema([
    field("id", new arrow.Int64(), false, { "described as": 'the «key», "quoted"' }),
    field("title", new arrow.Utf8()),
    field("tags", new arrow.List(field("item", new arrow.Utf8()))),
    field(
      "source",
      new arrow.Struct([field("url", new arrow.Utf8(), true, { checked: "yes" }), field("rank", new arrow.Int32())]),
    ),
    field("embedding", new arrow.FixedSizeList(8, field("item", new arrow.Float32())), false, { model: "e5" }),
  ]);
  const rows = Array.from({ length: 300 }, (_, id) => ({
    id: BigInt(id),
    title: `title ${id}`,
    tags: [`tag${id % 3}`],
    source: { url: `http://example.org/${id}`, rank: id },
    embedding: Array.from({ length: 8 }, (_unused, at) => Math.sin(id * 8 + at)),
  }));
  const table = await db.createTable("documents", rows, { schema: documents });
  const { Index } = lancedb;
  await table.createIndex("id", { config: Index.btree() });
  await table.createIndex("title", { config: Index.fts({ withPosition: true, stem: false }), name: "by words" });
  await table.createIndex("tags", { config: Index.labelList() });
  await table.createIndex("source.rank", { config: Index.bitmap() });
  await table.createIndex("embedding", {
    config: Index.ivfPq({ numPartitions: 1, distanceType: "cosine" }),
    name: "near",
  });
  const typed = (nullable: boolean) =>
    new Schema(Object.entries(types).map(([name, type]) => field(name, type, nullable || name === "null")));
  await db.createEmptyTable("every_type", typed(true));
  await db.createEmptyTable("required_types", typed(false));
  const odd = new Schema(oddColumns.map((name) => field(name, new arrow.Int32())));
  const orders = await db.createTable(
    "Orders-2024.v2",
    [Object.fromEntries(oddColumns.map((name, at) => [name, at]))],
    { schema: odd },
  );
  await orders.createIndex("with space", { config: Index.btree(), name: "spaced" });
  await db.createEmptyTable("empty", new Schema([field("id", new arrow.Int32())]));
}

/** What the engine's own client says of all tables but those of a ledger: fields to the last leaf, metadata and indexes. */
export async function saidOf(folder: string): Promise<Readonly<Record<string, unknown>>> {
  const db = await lancedb.connect(folder);
  const names = (await db.tableNames()).filter((name) => !name.startsWith("_migrations"));
  const found: Record<string, unknown> = {};
  for (const name of names) {
    const table = await db.openTable(name);
    const indexes = await table.listIndices();
    found[name] = {
      fields: (await table.schema()).fields.map(fieldSaid),
      indexes: indexes.map(({ name: index, indexType, columns, indexDetails }) => ({
        index,
        indexType,
        columns,
        indexDetails,
      })),
    };
  }
  return found;
}

function fieldSaid({ name, type, nullable, metadata }: ArrowField): unknown {
  const children = (type as { children?: readonly ArrowField[] | null }).children ?? [];
  return {
    name,
    type: children.length > 0 ? type.constructor.name : String(type),
    length: (type as { listSize?: number }).listSize,
    nullable,
    metadata: Object.fromEntries([...metadata].toSorted()),
    children: children.map(fieldSaid),
  };
}
