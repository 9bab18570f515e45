import * as fc from "../../../support/fast-check.ts";
import { expect, test } from "vitest";
import type { DataType } from "../../../../src/schema/data-type.ts";
import { toLanceType } from "../../../../src/wire/lance/lance-type.ts";
import { parseColumns, parseDataType } from "../../../../src/wire/lance/parse-lance-type.ts";
import { anyColumns, anyType } from "../../../support/drawn-tables.ts";

const item = (type: DataType, nullable = true) => ({ name: "item", type, nullable });

test("every type that we write in Lance's names is read back as it was", () => {
  fc.assert(
    fc.property(anyType, (type) => {
      expect(parseDataType(toLanceType(type))).toEqual(type);
    }),
    { numRuns: 500 },
  );
});

test("described columns are read back as they were", () => {
  fc.assert(
    fc.property(anyColumns, (columns) => {
      const described = columns.map(({ name, type, nullable }) => ({ name, type: toLanceType(type), nullable }));
      expect(parseColumns(JSON.parse(JSON.stringify(described)))).toEqual(columns);
    }),
  );
});

test.each<{ written: unknown; type: DataType }>([
  { written: "int64", type: { kind: "int64" } },
  { written: "Int64", type: { kind: "int64" } },
  { written: " BOOLEAN ", type: { kind: "bool" } },
  { written: { type: "float32" }, type: { kind: "float32" } },
  { written: "Float16", type: { kind: "float16" } },
  { written: "utf8", type: { kind: "utf8" } },
  { written: "Large_Utf8", type: { kind: "largeUtf8" } },
  { written: "LargeString", type: { kind: "largeUtf8" } },
  { written: "date32", type: { kind: "date32" } },
  { written: "date64:ms", type: { kind: "date64" } },
  { written: "timestamp", type: { kind: "timestamp", unit: "us" } },
  { written: "timestamp:ns", type: { kind: "timestamp", unit: "ns" } },
  { written: "timestamp:us:-", type: { kind: "timestamp", unit: "us" } },
  { written: "TIMESTAMP:US:America/New_York", type: { kind: "timestamp", unit: "us", zone: "America/New_York" } },
  { written: "timestamp:us:+08:00", type: { kind: "timestamp", unit: "us", zone: "+08:00" } },
  { written: "time32", type: { kind: "time32", unit: "ms" } },
  { written: "time64", type: { kind: "time64", unit: "us" } },
  { written: "duration", type: { kind: "duration", unit: "us" } },
  { written: "decimal:38:10", type: { kind: "decimal128", precision: 38, scale: 10 } },
  { written: "decimal:128:38:-2", type: { kind: "decimal128", precision: 38, scale: -2 } },
  { written: { type: "decimal128", length: 38010 }, type: { kind: "decimal128", precision: 38, scale: 10 } },
  { written: "fixed_size_binary:16", type: { kind: "fixedSizeBinary", length: 16 } },
  { written: { type: "FixedSizeBinary", length: 16 }, type: { kind: "fixedSizeBinary", length: 16 } },
  {
    written: "fixed_size_list:float:768",
    type: { kind: "fixedSizeList", item: item({ kind: "float32" }), length: 768 },
  },
  {
    written: { type: "float32", length: 768 },
    type: { kind: "fixedSizeList", item: item({ kind: "float32" }), length: 768 },
  },
  {
    written: { type: "FixedSizeList", listSize: 3, fields: [{ name: "element", type: "float64", nullable: false }] },
    type: { kind: "fixedSizeList", item: item({ kind: "float64" }), length: 3 },
  },
  {
    written: { type: "list", fields: [{ name: "element", type: { type: "utf8" } }] },
    type: { kind: "list", item: { name: "element", type: { kind: "utf8" }, nullable: true } },
  },
  {
    written: { type: "Struct", fields: [{ name: "a", type: "double", nullable: false }] },
    type: { kind: "struct", fields: [{ name: "a", type: { kind: "float64" }, nullable: false }] },
  },
  {
    written: "dict:timestamp:us:UTC:int16:false",
    type: { kind: "dictionary", index: { kind: "int16" }, value: { kind: "timestamp", unit: "us", zone: "UTC" } },
  },
])("$written means a type", ({ written, type }) => {
  expect(parseDataType(written)).toEqual(type);
});

function nested(depth: number): unknown {
  let type: unknown = "int64";
  for (let at = 0; at < depth; at++) type = { type: "list", fields: [{ name: "item", type }] };
  return type;
}

test.each<{ value: unknown }>([
  { value: undefined },
  { value: null },
  { value: 7 },
  { value: [] },
  { value: {} },
  { value: "" },
  { value: " : " },
  { value: "varchar" },
  { value: "timestamp:m" },
  { value: "time32:us" },
  { value: "time64:s" },
  { value: "decimal:128:39:2" },
  { value: "decimal:256:50:5" },
  { value: "decimal:x:y" },
  { value: "dict" },
  { value: "dict:string" },
  { value: "fixed_size_binary:-1" },
  { value: "list" },
  { value: { type: 7 } },
  { value: { type: "fixed_size_list", length: 3 } },
  { value: { type: "fixed_size_list", length: 2 ** 31, fields: [{ name: "item", type: "float" }] } },
  { value: { type: "struct", fields: [{ name: "a", type: "varchar" }] } },
  { value: { type: "struct", fields: [{ type: "int64" }] } },
  { value: { type: "list", fields: {} } },
])("$value means no type", ({ value }) => {
  expect(parseDataType(value)).toBeUndefined();
});

test("a type that is nested deeper than any table means none, and costs no stack", () => {
  expect(parseDataType(nested(20))).toBeDefined();
  expect(parseDataType(nested(100_000))).toBeUndefined();
});

test("a described type that we don't know keeps its name, wherever it stands", () => {
  const union = { kind: "unknown", name: "sparse_union" };
  expect(
    parseColumns([
      { name: "a", type: "sparse_union" },
      { name: "b", type: { type: "map", fields: [] }, nullable: false },
      { name: "c", type: { type: "list", fields: [{ name: "item", type: { type: "sparse_union" } }] } },
      { name: "d", type: { type: "decimal:256:50:5" }, metadata: { unit: "EUR" } },
    ]),
  ).toEqual([
    { name: "a", type: union, nullable: true },
    { name: "b", type: { kind: "unknown", name: "map" }, nullable: false },
    { name: "c", type: { kind: "list", item: { name: "item", type: union, nullable: true } }, nullable: true },
    { name: "d", type: { kind: "unknown", name: "decimal256(50, 5)" }, nullable: true, metadata: { unit: "EUR" } },
  ]);
});

test.each<{ fields: unknown }>([
  { fields: undefined },
  { fields: {} },
  { fields: ["id"] },
  { fields: [{ name: "id" }] },
  { fields: [{ name: "id", type: 7 }] },
  { fields: [{ name: 7, type: "int64" }] },
])("$fields are no columns", ({ fields }) => {
  expect(parseColumns(fields)).toBeUndefined();
});
