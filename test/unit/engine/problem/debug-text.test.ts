import { expect, test } from "vitest";
import { withoutDebugText } from "../../../../src/engine/problem/debug-text.ts";

const vector = (length: number) => `FixedSizeList(Field { data_type: Float32, nullable: true }, ${length})`;

test.each([
  ["nothing of the kind", "Cannot cast from Utf8 to Decimal128(10, 2)", "Cannot cast from Utf8 to Decimal128(10, 2)"],
  ["two vectors", `${vector(2)} to ${vector(3)}.`, "FixedSizeList(Float32, 2) to FixedSizeList(Float32, 3)."],
  [
    "a struct, with names that look like its end",
    'a Struct([Field { name: "a) \\"}", data_type: Utf8 }, Field { name: "b", data_type: Int8 }]) b',
    "a Struct b",
  ],
  [
    "a list of structs",
    "'List(Field { data_type: Struct([Field { name: \"a\", data_type: Utf8 }]), nullable: true })'",
    "'List(Struct)'",
  ],
  ["braces", 'at X Os { code: 2, path: Some("}") } and on', "at X Os and on"],
  [
    "braces in parentheses",
    "expression WindowFunction(WindowFunction { fun: Udf(Udf { inner: X }) }), x",
    "expression WindowFunction, x",
  ],
  ["a message that was cut", "from LargeList(Field { data_type: Utf8, nulla", "from LargeList(Utf8)"],
])("values are named without their contents: %s", (_, message, short) => {
  expect(withoutDebugText(message)).toBe(short);
});
