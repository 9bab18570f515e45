import * as fc from "../../../support/fast-check.ts";
import { expect, test } from "vitest";
import {
  binary,
  bool,
  decimal128,
  dictionary,
  fixedSizeBinary,
  fixedSizeList,
  float32,
  int8,
  largeList,
  list,
  nullType,
  struct,
  timestamp,
  utf8,
  vector,
} from "../../../../src/schema/declare/type-builders.ts";
import { column, dataType } from "../../../../src/schema/declare/validate.ts";
import { notNullMark } from "../../../../src/schema/declare/not-null-mark.ts";
import { anyType } from "../../../support/drawn-tables.ts";

function problem(type: unknown): string | undefined {
  return dataType.safeParse(type).error?.issues[0]?.message;
}

const aType = "must be a type such as int64() or utf8()";
const unit = 'must be "s", "ms", "us" or "ns"';
const fixedWidth = "must be a type of fixed width, such as a float or an integer; for other types, use list(…)";
const item = { name: "item", type: { kind: "int8" }, nullable: true };

test.each<[unknown, string]>([
  [undefined, aType],
  [null, aType],
  ["int64", aType],
  [{ kind: "int65" }, aType],
  [{ kind: "unknown", name: "union" }, aType],
  [int8(), aType],
  [notNullMark, "notNull() has no place here; use setNullable in a step of its own"],
  [fixedSizeBinary(0).type, "must be at least 1"],
  [fixedSizeBinary(1.5).type, "must be a whole number"],
  [decimal128(0, 0).type, "must be at least 1"],
  [decimal128(39, 0).type, "must be at most 38"],
  [decimal128(4, 5).type, "must be at most the precision"],
  [decimal128(4, -1).type, "must be at least 0"],
  [{ kind: "time32", unit: "us" }, 'must be "s" or "ms"'],
  [{ kind: "time64", unit: "ms" }, 'must be "us" or "ns"'],
  [{ kind: "duration", unit: "m" }, unit],
  [{ kind: "timestamp" }, unit],
  [{ kind: "timestamp", unit: "xs" }, unit],
  [vector(0).type, "must be at least 1"],
  [vector(2.5).type, "must be a whole number"],
  [vector(2 ** 31).type, "must be at most 2147483647"],
  [
    { kind: "fixedSizeList", item: { ...item, nullable: false }, length: 2 },
    "can't be notNull(): the engine keeps it nullable",
  ],
  [fixedSizeList(utf8(), 2).type, fixedWidth],
  [fixedSizeList(binary(), 2).type, fixedWidth],
  [fixedSizeList(list(int8()), 2).type, fixedWidth],
  [fixedSizeList(largeList(int8()), 2).type, fixedWidth],
  [fixedSizeList(dictionary(int8(), int8()), 2).type, fixedWidth],
  [fixedSizeList(nullType(), 2).type, fixedWidth],
  [struct({}).type, "must have at least one field"],
  [dictionary(utf8(), utf8()).type, "must be an integer type such as int32()"],
  // @ts-expect-error -- a name is no type
  [dictionary("int32", utf8()).type, "must be an integer type such as int32()"],
  [dictionary(int8(), list(utf8())).type, "must be an integer, float, text, binary or bool type"],
  [dictionary(int8(), dictionary(int8(), utf8())).type, "must be an integer, float, text, binary or bool type"],
  [dictionary(int8(), timestamp("us")).type, "must be an integer, float, text, binary or bool type"],
  [list(nullType().notNull()).type, "is of type null and can't be notNull()"],
])("the type %j is refused: it %s", (type, sentence) => {
  expect(problem(type)).toBe(sentence);
});

test.each(["+01:00", "-05:30", "", "Mars/Olympus", "UTC+1", "1", "utc plus"])("the zone %j is refused", (zone) => {
  expect(problem(timestamp("us", zone).type)).toBe(
    "must be a time zone's name such as UTC or Europe/Berlin; the engine takes no offsets",
  );
});

test.each(["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+1"])("the zone %s is taken", (zone) => {
  expect(problem(timestamp("us", zone).type)).toBeUndefined();
});

test.each([
  ["vectors of vectors", fixedSizeList(vector(2), 3)],
  ["vectors of booleans", fixedSizeList(bool(), 3)],
  ["vectors of fixed size binary", fixedSizeList(fixedSizeBinary(3), 3)],
])("the engine has %s, and they are taken", (_, type) => {
  expect(problem(type.type)).toBeUndefined();
});

// Measured: "cannot read columns of differing lengths together", once there are rows.
test("vectors of structs are refused: the engine can't read a table with them", () => {
  expect(problem(fixedSizeList(struct({ x: float32() }), 2).type)).toContain("for other types, use list(…)");
});

// Measured: the engine hands the item back as "item", so the table would not be as the step says.
test("the item of a fixed size list has no name of its own", () => {
  expect(problem({ kind: "fixedSizeList", item: { ...item, name: "element" }, length: 2 })).toBeDefined();
});

test("a key that no type has is refused", () => {
  const result = dataType.safeParse({ kind: "int8", length: 4 });
  expect(result.error?.issues).toMatchObject([{ code: "unrecognized_keys", keys: ["length"] }]);
});

test("a column says where in it something is wrong", () => {
  const type = struct({ a: list({ type: { kind: "timestamp", unit: "s", zone: "+01:00" }, nullable: true }) }).type;
  expect(column.safeParse({ name: "c", type, nullable: true }).error?.issues[0]?.path).toEqual([
    "type",
    "fields",
    0,
    "type",
    "item",
    "type",
    "zone",
  ]);
});

test("a column of type null can't be not null", () => {
  expect(column.safeParse({ name: "c", type: { kind: "null" }, nullable: false }).error?.issues[0]?.message).toBe(
    "is of type null and can't be notNull()",
  );
});

test("a column has at most as many types inside each other as the engine stores", () => {
  const columnOf = (levels: number): object => ({
    name: "item",
    nullable: true,
    type: levels === 0 ? { kind: "int32" } : { kind: "list", item: columnOf(levels - 1) },
  });
  expect(column.safeParse(columnOf(60)).success).toBe(true);
  expect(column.safeParse(columnOf(61)).error?.issues[0]?.message).toBe(
    "has more than 60 types nested inside each other, which the engine can't store",
  );
  expect(column.safeParse(columnOf(80)).success).toBe(false);
});

test("what zod makes of a type, it takes and leaves as it is", () => {
  fc.assert(
    fc.property(anyType, (type) => {
      expect(dataType.parse(JSON.parse(JSON.stringify(type)))).toEqual(type);
    }),
  );
});
