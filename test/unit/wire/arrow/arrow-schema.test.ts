import { tableFromIPC, tableToIPC } from "apache-arrow";
import * as fc from "../../../support/fast-check.ts";
import { expect, test } from "vitest";
import { withoutMetadata } from "../../../../src/schema/metadata.ts";
import { withExtensions } from "../../../../src/schema/reserved-metadata.ts";
import { formatType, integerKinds, plainKinds, type Column, type DataType } from "../../../../src/schema/data-type.ts";
import { fromIpc, toIpcFile, toIpcStream } from "../../../../src/wire/arrow/arrow-schema.ts";

const plain = fc.constantFrom(...plainKinds).map((kind): DataType => ({ kind }));
const length = fc.integer({ min: 1, max: 2 ** 31 - 1 });
const anyUnit = fc.constantFrom("s", "ms", "us", "ns");
const zone = fc.constantFrom(undefined, "UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires");
const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });

const leaf: fc.Arbitrary<DataType> = fc.oneof(
  plain,
  length.map((bytes): DataType => ({ kind: "fixedSizeBinary", length: bytes })),
  fc
    .tuple(fc.integer({ min: 1, max: 38 }), fc.nat({ max: 38 }))
    .map(([precision, scale]): DataType => ({ kind: "decimal128", precision, scale: Math.min(scale, precision) })),
  fc.constantFrom("s", "ms").map((unit): DataType => ({ kind: "time32", unit })),
  fc.constantFrom("us", "ns").map((unit): DataType => ({ kind: "time64", unit })),
  anyUnit.map((unit): DataType => ({ kind: "duration", unit })),
  fc
    .tuple(anyUnit, zone)
    .map(([unit, place]): DataType =>
      place === undefined ? { kind: "timestamp", unit } : { kind: "timestamp", unit, zone: place },
    ),
  fc
    .tuple(fc.constantFrom(...integerKinds), fc.constantFrom("utf8", "largeUtf8", "binary", "int64", "float32", "bool"))
    .map(([index, value]): DataType => ({ kind: "dictionary", index: { kind: index }, value: { kind: value } })),
);

const columnOf = (type: fc.Arbitrary<DataType>, called: fc.Arbitrary<string> = name): fc.Arbitrary<Column> =>
  fc.record({ name: called, type, nullable: fc.boolean() });

const { type: anyType } = fc.letrec<{ type: DataType }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc
      .tuple(fc.constantFrom("list", "largeList"), columnOf(tie("type"), fc.constant("item")))
      .map(([kind, item]): DataType => ({ kind, item })),
    // The engine keeps the items of fixed size lists nullable, and reading says so.
    fc.tuple(tie("type"), length).map(([type, size]): DataType => ({
      kind: "fixedSizeList",
      item: { name: "item", type, nullable: true },
      length: size,
    })),
    fc
      .array(columnOf(tie("type")), { minLength: 1, maxLength: 3 })
      .map((fields): DataType => ({ kind: "struct", fields })),
  ),
}));

/** The metadata that says which types Arrow lacks is gone. */
const asDeclared = (columns: readonly Column[]) => columns.map(withExtensions).map(withoutMetadata);

const schemas = fc.array(columnOf(anyType), { maxLength: 5 });

test.each([
  { form: "file", write: toIpcFile },
  { form: "stream", write: toIpcStream },
])("columns that are written as an IPC $form are read back as they were", ({ write }) => {
  fc.assert(
    fc.property(schemas, (columns) => {
      expect(asDeclared(fromIpc(write(columns)))).toEqual(columns);
    }),
    { numRuns: 200 },
  );
});

test("every message and footer is padded as the format wants it", () => {
  fc.assert(
    fc.property(schemas, (columns) => {
      expect(toIpcStream(columns).length % 8).toBe(0);
      expect(toIpcStream(columns).subarray(-8)).toEqual(Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]));
      expect(toIpcFile(columns).subarray(0, 8).toString("latin1")).toBe("ARROW1\0\0");
      expect(toIpcFile(columns).subarray(-6).toString("latin1")).toBe("ARROW1");
    }),
  );
});

const item = (type: DataType) => ({ name: "item", type, nullable: true });

test.each<{ type: DataType; arrow: string }>([
  { type: { kind: "null" }, arrow: "Null" },
  { type: { kind: "bool" }, arrow: "Bool" },
  { type: { kind: "int8" }, arrow: "Int8" },
  { type: { kind: "uint64" }, arrow: "Uint64" },
  { type: { kind: "float16" }, arrow: "Float16" },
  { type: { kind: "float64" }, arrow: "Float64" },
  { type: { kind: "utf8" }, arrow: "Utf8" },
  { type: { kind: "largeUtf8" }, arrow: "LargeUtf8" },
  { type: { kind: "binary" }, arrow: "Binary" },
  { type: { kind: "largeBinary" }, arrow: "LargeBinary" },
  { type: { kind: "fixedSizeBinary", length: 16 }, arrow: "FixedSizeBinary[16]" },
  { type: { kind: "decimal128", precision: 10, scale: 2 }, arrow: "Decimal[10e+2]" },
  { type: { kind: "date32" }, arrow: "Date32<DAY>" },
  { type: { kind: "date64" }, arrow: "Date64<MILLISECOND>" },
  { type: { kind: "time32", unit: "ms" }, arrow: "Time32<MILLISECOND>" },
  { type: { kind: "time64", unit: "ns" }, arrow: "Time64<NANOSECOND>" },
  { type: { kind: "duration", unit: "us" }, arrow: "Duration<MICROSECOND>" },
  { type: { kind: "timestamp", unit: "s" }, arrow: "Timestamp<SECOND>" },
  { type: { kind: "timestamp", unit: "us", zone: "UTC" }, arrow: "Timestamp<MICROSECOND, UTC>" },
  { type: { kind: "list", item: item({ kind: "int32" }) }, arrow: "List<Int32>" },
  { type: { kind: "fixedSizeList", item: item({ kind: "float32" }), length: 3 }, arrow: "FixedSizeList[3]<Float32>" },
  {
    type: { kind: "struct", fields: [{ name: "a", type: { kind: "int32" }, nullable: false }] },
    arrow: "Struct<{a:Int32}>",
  },
  {
    type: { kind: "dictionary", index: { kind: "int16" }, value: { kind: "utf8" } },
    arrow: "Dictionary<Int16, Utf8>",
  },
])("apache-arrow reads what is written for $arrow", ({ type, arrow }) => {
  const columns = [{ name: "column", type, nullable: false }];
  const { fields } = tableFromIPC(toIpcStream(columns)).schema;
  expect(fields.map((field) => [field.name, String(field.type), field.nullable])).toEqual([["column", arrow, false]]);
});

const known: fc.Arbitrary<DataType> = anyType.filter((type) => !JSON.stringify(type).includes("largeList"));

test.each(["file", "stream"] as const)("what apache-arrow writes as an IPC %s is read as it was meant", (form) => {
  // apache-arrow takes two columns of one name for one.
  const shared = fc.uniqueArray(columnOf(known), { minLength: 1, maxLength: 3, selector: (column) => column.name });
  fc.assert(
    fc.property(shared, (columns) => {
      const written = tableToIPC(tableFromIPC(toIpcStream(columns)), form);
      expect(asDeclared(fromIpc(Buffer.from(written)))).toEqual(columns);
    }),
  );
});

test("two dictionaries of one schema have numbers of their own", () => {
  const type: DataType = { kind: "dictionary", index: { kind: "int8" }, value: { kind: "utf8" } };
  const columns = ["a", "b"].map((called) => ({ name: called, type, nullable: true }));
  const { fields } = tableFromIPC(toIpcStream(columns)).schema;
  const ids = fields.map((field) => (field.type as { readonly id?: number }).id);
  expect(new Set(ids).size).toBe(2);
});

test.each<{ type: DataType }>([
  { type: { kind: "unknown", name: "union" } },
  { type: { kind: "list", item: item({ kind: "unknown", name: "map" }) } },
])("a type that has no builder is not written: $type.kind", ({ type }) => {
  expect(() => toIpcFile([{ name: "a", type, nullable: true }])).toThrow(`no Arrow type for unknown`);
  expect(formatType(type)).toContain(type.kind === "list" ? "map" : "union");
});
