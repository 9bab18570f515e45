import { expect, test } from "vitest";
import * as builders from "../../../../src/schema/declare/type-builders.ts";
import { plainKinds, type DataType } from "../../../../src/schema/data-type.ts";
import type { NullableType } from "../../../../src/schema/typed/shape.ts";
import { dataType } from "../../../../src/schema/declare/validate.ts";

const { columnsOf, dictionary, fixedSizeList, float64, int8, int32, largeList, list, struct, utf8, vector } = builders;

const item = (kind: "int8" | "float32" | "float64", nullable = true) => ({ name: "item", type: { kind }, nullable });

test.each<[string, NullableType, DataType]>([
  ["fixedSizeBinary(4)", builders.fixedSizeBinary(4), { kind: "fixedSizeBinary", length: 4 }],
  ["decimal128(10, 2)", builders.decimal128(10, 2), { kind: "decimal128", precision: 10, scale: 2 }],
  ['time32("s")', builders.time32("s"), { kind: "time32", unit: "s" }],
  ['time64("ns")', builders.time64("ns"), { kind: "time64", unit: "ns" }],
  ['duration("ms")', builders.duration("ms"), { kind: "duration", unit: "ms" }],
  ['timestamp("us")', builders.timestamp("us"), { kind: "timestamp", unit: "us" }],
  ['timestamp("us", "UTC")', builders.timestamp("us", "UTC"), { kind: "timestamp", unit: "us", zone: "UTC" }],
  ["list(int8())", list(int8()), { kind: "list", item: item("int8") }],
  ["list(int8().notNull())", list(int8().notNull()), { kind: "list", item: item("int8", false) }],
  ["largeList(int8())", largeList(int8()), { kind: "largeList", item: item("int8") }],
  ["fixedSizeList(int8(), 2)", fixedSizeList(int8(), 2), { kind: "fixedSizeList", item: item("int8"), length: 2 }],
  ["vector(3)", vector(3), { kind: "fixedSizeList", item: item("float32"), length: 3 }],
  ["vector(3, float64())", vector(3, float64()), { kind: "fixedSizeList", item: item("float64"), length: 3 }],
  [
    "struct({ a: int8().notNull(), b: utf8() })",
    struct({ a: int8().notNull(), b: utf8() }),
    {
      kind: "struct",
      fields: [
        { name: "a", type: { kind: "int8" }, nullable: false },
        { name: "b", type: { kind: "utf8" }, nullable: true },
      ],
    },
  ],
  [
    "dictionary(int32(), utf8())",
    dictionary(int32(), utf8()),
    { kind: "dictionary", index: { kind: "int32" }, value: { kind: "utf8" } },
  ],
])("%s makes plain data that zod takes", (_, built, type) => {
  expect({ ...built }).toEqual({ type, nullable: true });
  expect(dataType.parse(built.type)).toEqual(type);
});

test.each(plainKinds)("there is a builder for the type %s", (kind) => {
  const builder = builders[kind === "null" ? "nullType" : kind];
  expect({ ...builder() }).toEqual({ type: { kind }, nullable: true });
});

test("notNull makes another column type and leaves the first as it was", () => {
  const nullable = int8();
  expect({ ...nullable.notNull() }).toEqual({ type: { kind: "int8" }, nullable: false });
  expect(nullable.nullable).toBe(true);
});

test("what a builder makes is plain data: its JSON says everything", () => {
  const built = struct({ a: list(vector(2)).notNull(), b: builders.timestamp("us", "UTC") });
  expect(JSON.parse(JSON.stringify(built))).toEqual({ ...built });
});

test("a timestamp without a zone has no zone, rather than an undefined one", () => {
  expect(Object.keys(builders.timestamp("us").type)).toEqual(["kind", "unit"]);
});

test("columns keep the order in which they were written", () => {
  expect(columnsOf({ b: int8(), a: int8() }).map(({ name }) => name)).toEqual(["b", "a"]);
});
