import { expect, test } from "vitest";
import {
  bool,
  columnsOf,
  date32,
  decimal128,
  float16,
  float32,
  int8,
  int64,
  largeUtf8,
  list,
  struct,
  timestamp,
  uint64,
  utf8,
  vector,
} from "../../../src/schema/declare/type-builders.ts";
import type { ColumnType } from "../../../src/schema/typed/shape.ts";
import { checkRows, type RowRules, type RowValue, type RowValues } from "../../../src/schema/row-values.ts";

const check = (type: ColumnType, value: RowValue) => () => checkRows("t", columnsOf({ a: type }), [{ a: value }], {});

test.each<[ColumnType, RowValue]>([
  [bool(), false],
  [int8(), -128],
  [int8(), null],
  [int64(), "9223372036854775807"],
  [uint64(), "18446744073709551615"],
  [float16(), 65_504],
  [float32(), 0.1],
  [float32(), 3.402_823_466_385_288_6e38],
  [utf8(), ""],
  [largeUtf8(), "größer"],
  [date32(), "2026-11-20"],
  [timestamp("s"), "2026-11-20T12:00:00Z"],
  [timestamp("ns", "UTC"), "2026-11-20T12:00:00.123Z"],
  [list(int8()), [1, null]],
  [vector(2), [0.5, 1]],
  [struct({ x: int8(), y: utf8() }), { y: "y" }],
])("a value of %j may be %j", (type, value) => {
  expect(check(type, value)).not.toThrow();
});

test.each<[ColumnType, RowValue, string]>([
  [bool(), 1, "a must be true or false, as it is bool"],
  [int8(), 128, "a must be a whole number in its range, as it is int8"],
  [int8(), 1.5, "a must be a whole number in its range, as it is int8"],
  [int64(), 2 ** 60, "a must be a whole number in its range, or text where JavaScript can't hold it, as it is int64"],
  [int64(), "x", "a must be a whole number in its range, or text where JavaScript can't hold it, as it is int64"],
  [float16(), 65_520, "a must be a number in its range, as it is float16"],
  [float32(), 3.402_823_6e38, "a must be a number in its range, as it is float32"],
  [float32(), 1e39, "a must be a number in its range, as it is float32"],
  [utf8(), 1, "a must be text, as it is utf8"],
  [date32(), "2026-02-30", "a must be a date that it can hold, such as 2026-11-20, as it is date32"],
  [date32(), "+005881580-07-12", "a must be a date that it can hold, such as 2026-11-20, as it is date32"],
  [utf8(), "a\ud83d", 'a has half of a surrogate pair, which is no character ("a\\ud83d")'],
  // Each item is checked, also where an array has a hole.
  [
    list(int8()),
    Object.assign([1], { length: 2 }) as RowValue,
    "a[1] must be a whole number in its range, as it is int8",
  ],
  [
    timestamp("s"),
    "2026-11-20T12:00:00.5Z",
    "a must be a time that it can tell, such as 2026-11-20T12:00:00Z, as it is timestamp(s)",
  ],
  [list(int8()), 1, "a must be a list, as it is list<int8>"],
  [list(int8().notNull()), [1, null], "a[1] must have a value, as it is not null"],
  [vector(2), [1], "a must be a list of 2, as it is fixedSizeList<float32, 2>"],
  [struct({ x: int8() }), [1], "a must be an object, as it is struct<x: int8>"],
  [struct({ x: int8() }), { y: 1 }, "a has no field y"],
  [struct({ x: int8() }), { x: "1x" }, "a.x must be a whole number in its range, as it is int8"],
  [int8().notNull(), null, "a must have a value, as it is not null"],
  [
    decimal128(3, 1),
    1,
    "a is decimal128(3, 1), of which migrations hold no values; leave it out, or write it from your application",
  ],
])("a value of %j may not be %j: %s", (type, value, problem) => {
  expect(check(type, value)).toThrow(`rows of t: row 1: ${problem}`);
});

const columns = columnsOf({ code: utf8(), name: utf8(), price: decimal128(3, 1) });

test.each<[string, readonly RowValues[], RowRules, string]>([
  [
    "no such column",
    [{ code: "a", nmae: "b" }],
    {},
    "row 1 has a value for nmae, which is no column; did you mean name?",
  ],
  ["no such key", [{ code: "a" }], { key: "id" }, "there is no column id to tell them apart by"],
  ["no key", [{ code: "a" }, { name: "b" }], { key: "code" }, "row 2 has no code that could tell it from others"],
  ["the same key", [{ code: "a" }, { code: "a" }], { key: "code" }, "row 2 has the same code as another: a"],
  [
    "a table that rows can't hold",
    [{ code: "a" }],
    { whole: true },
    "price is decimal128(3, 1), of which migrations hold no values; create the table without rows, then insertRows",
  ],
])("refused: %s", (_, rows, rules, problem) => {
  expect(() => checkRows("t", columns, rows, rules)).toThrow(`rows of t: ${problem}`);
});

test.each<[ColumnType, RowValue, RowValue]>([
  [int64(), 1, "1"],
  [int64(), "01", "1"],
  [timestamp("ms", "UTC"), "2026-11-20T12:00:00Z", "2026-11-20T13:00:00+01:00"],
  [float32(), 0.1, 0.10000000149011612],
  [float16(), 0.1, 0.10000001],
  [date32(), "2026-11-20", "+002026-11-20"],
])("a key of %j that is %j once and %j another time is one key", (type, one, other) => {
  const rows = [one, other].map((id) => ({ id }));
  expect(() => checkRows("t", columnsOf({ id: type }), rows, { key: "id" })).toThrow("has the same id as another");
});

test("a column that is called like something every object has is left out like others", () => {
  expect(() => checkRows("t", columnsOf({ id: int8(), constructor: utf8() }), [{ id: 1 }], {})).not.toThrow();
});
