import * as fc from "../../support/fast-check.ts";
import { expect, test } from "vitest";
import {
  binary,
  decimal128,
  dictionary,
  duration,
  fixedSizeBinary,
  fixedSizeList,
  float16,
  int8,
  int16,
  int32,
  largeList,
  largeUtf8,
  list,
  nullType,
  struct,
  time32,
  time64,
  timestamp,
  utf8,
  vector,
} from "../../../src/schema/declare/type-builders.ts";
import type { NullableType } from "../../../src/schema/typed/shape.ts";
import {
  childColumns,
  formatType,
  isFloat,
  isInteger,
  sameType,
  withChildColumns,
} from "../../../src/schema/data-type.ts";
import { anyType } from "../../support/drawn-tables.ts";

/** Types that differ from each other, with the way people write them. */
const written: readonly (readonly [NullableType, string])[] = [
  [int8(), "int8"],
  [int16(), "int16"],
  [utf8(), "utf8"],
  [largeUtf8(), "largeUtf8"],
  [binary(), "binary"],
  [nullType(), "null"],
  [fixedSizeBinary(4), "fixedSizeBinary(4)"],
  [fixedSizeBinary(5), "fixedSizeBinary(5)"],
  [decimal128(10, 2), "decimal128(10, 2)"],
  [decimal128(10, 3), "decimal128(10, 3)"],
  [decimal128(11, 2), "decimal128(11, 2)"],
  [time32("s"), "time32(s)"],
  [time32("ms"), "time32(ms)"],
  [time64("us"), "time64(us)"],
  [duration("ms"), "duration(ms)"],
  [timestamp("us"), "timestamp(us)"],
  [timestamp("ns"), "timestamp(ns)"],
  [timestamp("us", "UTC"), "timestamp(us, UTC)"],
  [timestamp("us", "Europe/Berlin"), "timestamp(us, Europe/Berlin)"],
  [list(int8()), "list<int8>"],
  [list(int8().notNull()), "list<int8 not null>"],
  [list(list(int8())), "list<list<int8>>"],
  [largeList(int8()), "largeList<int8>"],
  [vector(3), "fixedSizeList<float32, 3>"],
  [vector(4), "fixedSizeList<float32, 4>"],
  [vector(4, float16()), "fixedSizeList<float16, 4>"],
  [fixedSizeList(vector(2), 4), "fixedSizeList<fixedSizeList<float32, 2>, 4>"],
  [struct({ a: int8() }), "struct<a: int8>"],
  [struct({ b: int8() }), "struct<b: int8>"],
  [struct({ a: int8().notNull() }), "struct<a: int8 not null>"],
  [struct({ a: int8(), b: utf8() }), "struct<a: int8, b: utf8>"],
  [struct({ b: utf8(), a: int8() }), "struct<b: utf8, a: int8>"],
  [dictionary(int8(), utf8()), "dictionary<int8, utf8>"],
  [dictionary(int16(), utf8()), "dictionary<int16, utf8>"],
  [dictionary(int8(), largeUtf8()), "dictionary<int8, largeUtf8>"],
];

test.each(written.map(([type, text]) => [text, type.type] as const))("%s is written so", (text, type) => {
  expect(formatType(type)).toBe(text);
});

test("a type that was found elsewhere is written by its name", () => {
  expect(formatType({ kind: "unknown", name: "union" })).toBe("union");
});

test.each(written.map(([type, text]) => [text, type.type] as const))("%s is the same as itself alone", (text, type) => {
  const same = written.filter(([other]) => sameType(type, other.type)).map(([, text]) => text);
  expect(same).toEqual([text]);
});

test("unknown types are told apart by their names", () => {
  expect(sameType({ kind: "unknown", name: "union" }, { kind: "unknown", name: "union" })).toBe(true);
  expect(sameType({ kind: "unknown", name: "union" }, { kind: "unknown", name: "interval" })).toBe(false);
});

test("two drawn types are the same exactly when they are written alike", () => {
  fc.assert(
    fc.property(anyType, anyType, (one, other) => {
      expect(sameType(one, other)).toBe(formatType(one) === formatType(other));
      expect(sameType(one, structuredClone(one))).toBe(true);
    }),
  );
});

test("a type with its own children put back is the same type", () => {
  fc.assert(
    fc.property(anyType, (type) => {
      expect(withChildColumns(type, childColumns(type))).toEqual(type);
    }),
  );
});

test("integers and floats are families of their own", () => {
  expect([int32(), float16(), utf8(), timestamp("s")].map(({ type }) => isInteger(type))).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect([int32(), float16(), utf8(), decimal128(4, 2)].map(({ type }) => isFloat(type))).toEqual([
    false,
    true,
    false,
    false,
  ]);
});
