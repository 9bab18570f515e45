import { expect, test } from "vitest";
import {
  binary,
  bool,
  date32,
  date64,
  decimal128,
  dictionary,
  duration,
  fixedSizeBinary,
  fixedSizeList,
  float16,
  float32,
  float64,
  int8,
  int16,
  int32,
  int64,
  largeBinary,
  largeList,
  largeUtf8,
  list,
  nullType,
  struct,
  time32,
  time64,
  timestamp,
  uint8,
  uint16,
  uint32,
  uint64,
  utf8,
  vector,
} from "../../../src/schema/declare/type-builders.ts";
import type { NullableType } from "../../../src/schema/typed/shape.ts";
import { castVerdict } from "../../../src/schema/cast-rules.ts";
import { formatType } from "../../../src/schema/data-type.ts";

import matrix from "../../fixtures/cast-matrix.json" with { type: "json" };

/** The measured matrix's names for types, as our builders make them. */
const types: Readonly<Record<keyof typeof matrix.types, NullableType>> = {
  int8: int8(),
  int16: int16(),
  int32: int32(),
  int64: int64(),
  uint8: uint8(),
  uint16: uint16(),
  uint32: uint32(),
  uint64: uint64(),
  float16: float16(),
  float32: float32(),
  float64: float64(),
  utf8: utf8(),
  large_utf8: largeUtf8(),
  binary: binary(),
  large_binary: largeBinary(),
  "fixed_size_binary(4)": fixedSizeBinary(4),
  bool: bool(),
  date32: date32(),
  date64: date64(),
  "timestamp(s)": timestamp("s"),
  "timestamp(s,UTC)": timestamp("s", "UTC"),
  "timestamp(ms)": timestamp("ms"),
  "timestamp(ms,UTC)": timestamp("ms", "UTC"),
  "timestamp(us)": timestamp("us"),
  "timestamp(us,UTC)": timestamp("us", "UTC"),
  "timestamp(us,America/New_York)": timestamp("us", "America/New_York"),
  "timestamp(ns)": timestamp("ns"),
  "timestamp(ns,UTC)": timestamp("ns", "UTC"),
  "time32(s)": time32("s"),
  "time32(ms)": time32("ms"),
  "time64(us)": time64("us"),
  "time64(ns)": time64("ns"),
  "duration(ms)": duration("ms"),
  "decimal128(10,2)": decimal128(10, 2),
  "decimal128(38,0)": decimal128(38, 0),
  "decimal128(20,4)": decimal128(20, 4),
  "decimal128(5,1)": decimal128(5, 1),
  "fsl<float32,4>": vector(4),
  "fsl<float64,4>": vector(4, float64()),
  "fsl<float32,8>": vector(8),
  "fsl<float16,4>": vector(4, float16()),
  "fsl<int32,4>": vector(4, int32()),
  "list<int32>": list(int32()),
  "list<int64>": list(int64()),
  "list<float32>": list(float32()),
  "list<utf8>": list(utf8()),
  "struct{x:int32}": struct({ x: int32() }),
  "struct{x:int64}": struct({ x: int64() }),
  "struct{x:utf8}": struct({ x: utf8() }),
  "struct{y:int32}": struct({ y: int32() }),
  "struct{x:int32,y:utf8}": struct({ x: int32(), y: utf8() }),
};

const words = {
  ".": "refused",
  "=": "exact",
  Y: "exact",
  O: "may fail",
  L: "may lose",
  B: "may fail, may lose",
  E: "may fail",
} as const;

function inWords(from: NullableType, to: NullableType): string {
  const verdict = castVerdict(from.type, to.type);
  if (!verdict.allowed) return "refused";
  if (!verdict.mayFail && !verdict.mayLose) return "exact";
  return [...(verdict.mayFail ? ["may fail"] : []), ...(verdict.mayLose ? ["may lose"] : [])].join(", ");
}

const casts = matrix.casts as Readonly<Record<string, Readonly<Record<string, keyof typeof words>>>>;

function disagreements(): string[] {
  const lines: string[] = [];
  for (const [fromName, from] of Object.entries(types))
    for (const [toName, to] of Object.entries(types)) {
      const measured = words[casts[fromName]?.[toName] ?? "."];
      const said = inWords(from, to);
      if (said !== measured) lines.push(`${fromName} -> ${toName}: measured ${measured}, we say ${said}`);
    }
  return lines;
}

/** Where we say more than was measured, each for a reason. */
const moreCautious: Readonly<Record<string, string>> = {
  // One verdict serves all zones, and in America/New_York values were lost.
  "timestamp(s) -> timestamp(us,UTC)": "measured may fail, we say may fail, may lose",
  "timestamp(ms) -> timestamp(us,UTC)": "measured may fail, we say may fail, may lose",
  "timestamp(us) -> timestamp(us,UTC)": "measured may fail, we say may fail, may lose",
  // A day so far away that no calendar of the engine has it (test/contract/cast-times.test.ts).
  "date32 -> timestamp(us,UTC)": "measured may lose, we say may fail, may lose",
  "date64 -> timestamp(us,UTC)": "measured may lose, we say may fail, may lose",
  // Measured without the local times that clocks skip, which the engine refuses.
  "date32 -> timestamp(us,America/New_York)": "measured may lose, we say may fail, may lose",
  "date64 -> timestamp(us,America/New_York)": "measured may lose, we say may fail, may lose",
  "timestamp(ns) -> timestamp(us,America/New_York)": "measured may lose, we say may fail, may lose",
  // Measured with rows of another length only; rows of that length are rounded.
  "list<float32> -> fsl<float16,4>": "measured may fail, we say may fail, may lose",
};

test("the verdict on every pair of types is the measured one", () => {
  const expected = Object.entries(moreCautious).map(([pair, difference]) => `${pair}: ${difference}`);
  expect(disagreements().toSorted()).toEqual(expected.toSorted());
});

test("the measured matrix has every type of ours that it names, both ways", () => {
  expect(Object.keys(types)).toEqual(Object.keys(matrix.types));
});

const locals = [date32(), date64(), timestamp("s"), timestamp("ms"), timestamp("us"), timestamp("ns")];
const zoned = (["s", "ms", "us", "ns"] as const).map((unit) => timestamp(unit, "America/New_York"));

// Measured: "Cannot cast timezone to different timezone" for 02:30 on the day on which clocks go forward.
test.each(locals.flatMap((from) => zoned.map((to) => [formatType(from.type), formatType(to.type), from, to] as const)))(
  "a cast from %s to %s may fail: clocks skip some local times",
  (_, __, from, to) => {
    expect(inWords(from, to)).toMatch(/may fail/);
  },
);

test.each<[string, NullableType, NullableType]>([
  ["integers and floats", int32(), float32()],
  ["floats and decimals", float64(), decimal128(10, 2)],
  ["decimals and integers", decimal128(10, 0), int64()],
])("between %s there is no cast, and the hint says so", (_, from, to) => {
  const hint =
    "the engine never casts between integers, floats and decimals; recreate the column with retypeColumn's using";
  expect(castVerdict(from.type, to.type)).toEqual({ allowed: false, hint });
  expect(castVerdict(to.type, from.type)).toEqual({ allowed: false, hint });
});

test("the hint for a struct leads to its fields", () => {
  expect(castVerdict(struct({ x: int32() }).type, struct({ x: int64() }).type)).toEqual({
    allowed: false,
    hint: "change its fields one by one, by their paths",
  });
});

test("the hint for a vector of another length leads to a new column", () => {
  expect(castVerdict(vector(4).type, vector(8).type)).toEqual({
    allowed: false,
    hint: "the engine never changes the length of a vector; recreate the column with retypeColumn's using",
  });
});

test("the hint for text that is to become a number leads to a new column", () => {
  expect(castVerdict(utf8().type, int64().type)).toEqual({
    allowed: false,
    hint: "the engine casts only inside one family of types; recreate the column with retypeColumn's using",
  });
});

// Not in the measured matrix; held against the engine in test/contract/cast-verdicts.test.ts.
test.each<[NullableType, NullableType, string]>([
  [list(int32()), largeList(int64()), "exact"],
  [largeList(int64()), list(int32()), "may fail"],
  [list(int32()), list(int32().notNull()), "may fail"],
  [list(int32().notNull()), list(int32()), "exact"],
  [list(list(float64())), list(list(float32())), "may lose"],
  [list(utf8()), list(int32()), "refused"],
  [vector(2), list(float32().notNull()), "refused"],
  [list(float32()), vector(2), "may fail"],
  [list(struct({ x: int8() })), list(struct({ x: int16() })), "refused"],
  [utf8(), dictionary(int8(), utf8()), "may fail"],
  [dictionary(int8(), utf8()), utf8(), "exact"],
  [dictionary(int8(), utf8()), dictionary(int32(), largeUtf8()), "may fail"],
  [dictionary(int8(), float64()), float32(), "may lose"],
  [dictionary(int8(), utf8()), int32(), "refused"],
  [bool(), dictionary(int8(), bool()), "refused"],
  [duration("s"), duration("ms"), "may fail"],
  [duration("ms"), duration("s"), "may lose"],
  [fixedSizeBinary(4), fixedSizeBinary(5), "refused"],
  [fixedSizeBinary(4), binary(), "refused"],
  [nullType(), int8(), "refused"],
  [int8(), nullType(), "refused"],
  [fixedSizeList(bool(), 2), list(bool()), "exact"],
])("%# a nested, encoded or rare type is cast as said", (from, to, said) => {
  expect([formatType(from.type), formatType(to.type), inWords(from, to)]).toEqual([
    formatType(from.type),
    formatType(to.type),
    said,
  ]);
});
