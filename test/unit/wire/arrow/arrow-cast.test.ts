import { expect, test } from "vitest";
import * as types from "../../../../src/schema/declare/type-builders.ts";
import type { NullableType } from "../../../../src/schema/typed/shape.ts";
import { arrowName, columnSql } from "../../../../src/wire/arrow/arrow-cast.ts";

test.each<[NullableType, string]>([
  [types.bool(), "Boolean"],
  [types.int8(), "Int8"],
  [types.uint64(), "UInt64"],
  [types.float16(), "Float16"],
  [types.utf8(), "Utf8"],
  [types.largeBinary(), "LargeBinary"],
  [types.fixedSizeBinary(3), "FixedSizeBinary(3)"],
  [types.decimal128(10, 2), "Decimal128(10, 2)"],
  [types.date32(), "Date32"],
  [types.time64("ns"), "Time64(Nanosecond)"],
  [types.duration("s"), "Duration(Second)"],
  [types.timestamp("us"), "Timestamp(Microsecond, None)"],
  [types.timestamp("ms", "Europe/Berlin"), 'Timestamp(Millisecond, Some("Europe/Berlin"))'],
  [types.list(types.int8().notNull()), "List(non-null Int8)"],
  [types.vector(4), "FixedSizeList(4, Float32)"],
  [types.struct({ "it's": types.int8(), b: types.utf8().notNull() }), `Struct("it's": Int8, "b": non-null Utf8)`],
  [types.dictionary(types.int8(), types.utf8()), "Dictionary(Int8, Utf8)"],
])("%j is %s to Arrow", ({ type }, name) => {
  expect(arrowName(type)).toBe(name);
});

test("a list whose item has a name of its own says it", () => {
  const item = { name: "element", type: { kind: "int8" }, nullable: true } as const;
  expect(arrowName({ kind: "list", item })).toBe("List(Int8, field: 'element')");
});

const int32 = { name: "n", type: { kind: "int32" } } as const;

test("an expression is cast; only one for a nullable column may be null", () => {
  expect(columnSql({ ...int32, nullable: false, as: "a or b" })).toBe("arrow_cast((a or b), 'Int32')");
  expect(columnSql({ ...int32, nullable: true, as: "1" })).toMatch(/^nullif\(arrow_cast\(\(1\), 'Int32'\), /);
});

test("a quote in a name does not end the type", () => {
  const type = types.struct({ "it's": types.int8() }).type;
  expect(columnSql({ name: "s", type, nullable: true })).toBe(`arrow_cast(NULL, 'Struct("it''s": Int8)')`);
});
