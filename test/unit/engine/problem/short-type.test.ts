import { expect, test } from "vitest";
import { withShortTypes } from "../../../../src/engine/problem/short-type.ts";

const vector = (length: number) => `FixedSizeList(Field { data_type: Float32, nullable: true }, ${length})`;

test.each([
  ["no nested type", "Cannot cast from Utf8 to Decimal128(10, 2)", "Cannot cast from Utf8 to Decimal128(10, 2)"],
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
  ["a message that was cut", "from LargeList(Field { data_type: Utf8, nulla", "from LargeList(Utf8)"],
])("nested types are printed in short: %s", (_, message, short) => {
  expect(withShortTypes(message)).toBe(short);
});
