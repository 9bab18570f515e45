import { expect, test } from "vitest";
import * as fc from "../../support/fast-check.ts";
import { anyType } from "../../support/drawn-tables.ts";
import { sameColumns, type Column, type DataType } from "../../../src/schema/data-type.ts";
import {
  columnsOf,
  fixedSizeList,
  int8,
  int32,
  int64,
  largeList,
  list,
  struct,
  utf8,
  vector,
} from "../../../src/schema/declare/type-builders.ts";
import type { ColumnType } from "../../../src/schema/typed/shape.ts";
import {
  andNoMore,
  checkColumns,
  columnsWithin,
  differences,
  getTable,
  replaceColumn,
  sameTable,
  requireColumn,
  type Table,
} from "../../../src/schema/table.ts";

function aTable(columns: Readonly<Record<string, ColumnType>>): Table {
  return { columns: columnsOf(columns) };
}

const anInt: Column = { name: "x", type: { kind: "int8" }, nullable: true };

function aList(item: Partial<Column>): Table {
  return { columns: [{ ...anInt, name: "l", type: { kind: "list", item: { ...anInt, name: "item", ...item } } }] };
}

const documents = aTable({
  id: int32().notNull(),
  source: struct({ url: utf8(), at: struct({ day: int32() }) }),
  tags: list(struct({ name: utf8() })),
});

test("a missing table names the one that may be meant", () => {
  const database = new Map([["documents", documents]]);
  expect(() => getTable(database, "documnets")).toThrow(
    expect.objectContaining({ code: "ERR_TABLE_MISSING", details: { table: "documnets", similar: "documents" } }),
  );
  expect(() => getTable(database, "users")).toThrow(
    expect.objectContaining({ code: "ERR_TABLE_MISSING", details: { table: "users", similar: undefined } }),
  );
});

test("a mistyped column is refused with the one that was meant, and of many columns only a few are named", () => {
  const many = columnsOf(Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`column_${index}`, int8()])));
  expect(() => requireColumn("t", [...many, ...documents.columns], ["sorce"])).toThrow(
    "t has no column sorce at this point; did you mean source?",
  );
  expect(() => requireColumn("t", many, ["title"])).toThrow(
    "t has no column title at this point; it has column_0, column_1, column_2, column_3, column_4 and 35 others",
  );
});

test.each<[string, ColumnType, string]>([
  ["a top-level column", struct({ x: int8() }), "a"],
  ["a field of a struct", struct({ X: int8(), x: int8() }), "t.c"],
  ["a struct in a list", list(struct({ X: int8(), x: int8() })), "t.c.item"],
  ["a struct in a large list", largeList(struct({ X: int8(), x: int8() })), "t.c.item"],
  ["a struct in a fixed size list", fixedSizeList(struct({ X: int8(), x: int8() }), 2), "t.c.item"],
])("a duplicate in case alone is found in %s", (_, type, place) => {
  const columns = place === "a" ? columnsOf({ X: int8(), x: int8() }) : columnsOf({ c: type });
  expect(() => checkColumns(columns, "t")).toThrow(
    expect.objectContaining({
      code: "ERR_COLUMN_DUPLICATE",
      details: { table: place === "a" ? "t" : place, name: "x", other: "X" },
    }),
  );
});

test.each<[string, ColumnType]>([
  ["a field of a struct", struct({ "a.b": int8() })],
  ["a struct in a list", list(struct({ "a.b": int8() }))],
])("an unusable name is found in %s", (_, type) => {
  expect(() => checkColumns(columnsOf({ c: type }), "t")).toThrow(
    expect.objectContaining({ code: "ERR_COLUMN_NAME", details: expect.objectContaining({ name: "a.b" }) }),
  );
});

test("tables are the same by their columns, and no table is the same as no table", () => {
  expect(sameTable(documents, structuredClone(documents))).toBe(true);
  expect(sameTable(documents, aTable({ id: int32() }))).toBe(false);
  expect(sameTable(undefined, undefined)).toBe(true);
  expect(sameTable(documents, undefined)).toBe(false);
});

test.each<[string, Table | undefined, Table | undefined, readonly string[]]>([
  ["nothing", documents, documents, []],
  ["two absent tables", undefined, undefined, []],
  ["a table that is not there", documents, undefined, ["it does not exist"]],
  ["a table that should not be there", undefined, documents, ["it exists, but should not"]],
  ["a missing column", aTable({ a: int8(), b: int8() }), aTable({ a: int8() }), ["column b is missing"]],
  [
    "one column too many",
    aTable({ a: int8() }),
    aTable({ a: int8(), b: list(int8()) }),
    ["column b (list<int8>) was not expected"],
  ],
  [
    "another type",
    aTable({ a: vector(2) }),
    aTable({ a: vector(3) }),
    ["column a is fixedSizeList<float32, 3> instead of fixedSizeList<float32, 2>"],
  ],
  ["nullability", aTable({ a: int8() }), aTable({ a: int8().notNull() }), ["column a is not null instead of nullable"]],
  [
    "nullability and type at once",
    aTable({ a: int8().notNull() }),
    aTable({ a: int64() }),
    ["column a is nullable instead of not null", "column a is int64 instead of int8"],
  ],
  [
    "a renamed column",
    aTable({ a: int8() }),
    aTable({ b: int8() }),
    ["column a is missing", "column b (int8) was not expected"],
  ],
  [
    "nested fields, by their paths",
    aTable({ s: struct({ x: int8(), y: struct({ z: int8() }) }) }),
    aTable({ s: struct({ x: int64(), y: struct({ w: int8() }) }) }),
    ["column s.x is int64 instead of int8", "column s.y.z is missing", "column s.y.w (int8) was not expected"],
  ],
  [
    "the order of columns",
    aTable({ a: int8(), b: int8() }),
    aTable({ b: int8(), a: int8() }),
    ["the columns are in another order: b, a instead of a, b"],
  ],
  [
    "the items of a list",
    aTable({ l: list(struct({ x: int8() })) }),
    aTable({ l: list(struct({ x: int8().notNull() })) }),
    ["column l is list<struct<x: int8 not null>> instead of list<struct<x: int8>>"],
  ],
  [
    "the metadata of a list's item",
    aList({ metadata: { unit: "cm", gone: null } }),
    aList({ metadata: { gone: "1" } }),
    ['unit of column l.item is not set instead of "cm"', 'gone of column l.item is "1" instead of not set'],
  ],
  [
    "the metadata of a field inside a list",
    aList({ type: { kind: "struct", fields: [{ ...anInt, metadata: { unit: "cm" } }] } }),
    aList({ type: { kind: "struct", fields: [anInt] } }),
    ['unit of column l.item.x is not set instead of "cm"'],
  ],
  [
    "the name of a list's item",
    aList({}),
    aList({ name: "element" }),
    ["column l.item is missing", "column l.element (int8) was not expected"],
  ],
])("tables that differ in %s say so", (_, expected, found, words) => {
  expect(differences(expected, found)).toEqual(words);
});

const anyColumn: fc.Arbitrary<Column> = fc.record({
  name: fc.constantFrom("a", "b"),
  type: fc.oneof(anyType, fc.constant<DataType>({ kind: "unknown", name: "int8" })),
  nullable: fc.boolean(),
  computed: fc.constantFrom(undefined, "x"),
  metadata: fc.constantFrom(undefined, { k: "1" }, { k: null }),
});

/** Alike but for one property of the column itself or of something in it. */
const pairs = fc
  .tuple(anyColumn, anyColumn, fc.nat(4), fc.constantFrom("name", "nullable", "metadata", "type"))
  .map(([one, other, place, property]): readonly [Column, Column] => {
    const inside = columnsWithin([one]);
    const { path } = inside[place % inside.length]!;
    return [one, replaceColumn([one], path, (column) => ({ ...column, [property]: other[property] }))[0]!];
  });

test("two drawn columns differ exactly when they are not the same, at any depth", () => {
  fc.assert(
    fc.property(pairs, ([one, other]) => {
      const words = differences({ columns: [one] }, { columns: [other] });
      expect([words, words.length === 0]).toEqual([words, sameColumns([one], [other])]);
    }),
  );
});

test("what is expected and no more differs from a table with another key, index, or key of a column", () => {
  const expected: Table = { columns: [anInt], metadata: { a: "1" } };
  const found = [
    { ...expected, metadata: { a: "1", b: "2" } },
    { ...expected, indexes: { x: { type: "btree", path: "x", options: {} } } },
    { ...expected, columns: [{ ...anInt, metadata: { c: "3" } }] },
  ] as readonly Table[];
  expect(differences(andNoMore(expected, expected), expected)).toEqual([]);
  for (const one of found) expect(differences(andNoMore(expected, one), one)).toHaveLength(1);
});
