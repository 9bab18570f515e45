import { expect, test } from "vitest";
import type { DataType } from "../../../../src/schema/data-type.ts";
import { toLanceType, type LanceType } from "../../../../src/wire/lance/lance-type.ts";

const item = (type: DataType, nullable = true) => ({ name: "item", type, nullable });
const int64: DataType = { kind: "int64" };

test.each<{ type: DataType; name: string }>([
  ...(
    ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool", "null", "binary"] as const
  ).map((kind) => ({ type: { kind } as DataType, name: kind })),
  { type: { kind: "float16" }, name: "halffloat" },
  { type: { kind: "float32" }, name: "float" },
  { type: { kind: "float64" }, name: "double" },
  { type: { kind: "utf8" }, name: "string" },
  { type: { kind: "largeUtf8" }, name: "large_string" },
  { type: { kind: "largeBinary" }, name: "large_binary" },
  { type: { kind: "date32" }, name: "date32:day" },
  { type: { kind: "date64" }, name: "date64:ms" },
  { type: { kind: "decimal128", precision: 10, scale: 2 }, name: "decimal:128:10:2" },
  { type: { kind: "time32", unit: "s" }, name: "time32:s" },
  { type: { kind: "time64", unit: "ns" }, name: "time64:ns" },
  { type: { kind: "duration", unit: "us" }, name: "duration:us" },
  { type: { kind: "timestamp", unit: "ms" }, name: "timestamp:ms:-" },
  { type: { kind: "timestamp", unit: "us", zone: "Europe/Berlin" }, name: "timestamp:us:Europe/Berlin" },
  { type: { kind: "dictionary", index: { kind: "int16" }, value: { kind: "utf8" } }, name: "dict:string:int16:false" },
])("Lance calls the type $name so", ({ type, name }) => {
  expect(toLanceType(type)).toEqual({ type: name });
});

test.each<{ type: DataType; lance: LanceType }>([
  { type: { kind: "fixedSizeBinary", length: 16 }, lance: { type: "fixed_size_binary", length: 16 } },
  {
    type: { kind: "list", item: item(int64, false) },
    lance: { type: "list", fields: [{ name: "item", type: { type: "int64" }, nullable: false }] },
  },
  {
    type: { kind: "largeList", item: item({ kind: "utf8" }) },
    lance: { type: "large_list", fields: [{ name: "item", type: { type: "string" }, nullable: true }] },
  },
  {
    type: { kind: "fixedSizeList", item: item({ kind: "float32" }), length: 768 },
    lance: {
      type: "fixed_size_list",
      fields: [{ name: "item", type: { type: "float" }, nullable: true }],
      length: 768,
    },
  },
  {
    type: { kind: "struct", fields: [{ name: "a", type: { kind: "list", item: item(int64) }, nullable: false }] },
    lance: {
      type: "struct",
      fields: [
        {
          name: "a",
          type: { type: "list", fields: [{ name: "item", type: { type: "int64" }, nullable: true }] },
          nullable: false,
        },
      ],
    },
  },
])("a $lance.type carries its fields and its length", ({ type, lance }) => {
  expect(toLanceType(type)).toEqual(lance);
});
