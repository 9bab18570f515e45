import { expect, test } from "vitest";
import { KnownValues } from "../../../../src/run/calls/known-values.ts";
import type { RowValue, RowValues } from "../../../../src/schema/row-values.ts";

/** Adds a value for each text, and returns for which of the texts a value is known. */
function aScene(mostBytes?: number) {
  const known = new KnownValues(["text"], mostBytes);
  const groupOf = (text: RowValue) => known.grouped([{ text }])[0]!;
  return {
    known,
    add: (text: string, value: RowValue) => known.add(groupOf(text), value),
    valueOf: (text: string) => groupOf(text).value,
  };
}

test("rows with equal sources are together, whatever else they have", () => {
  const { known } = aScene();
  const rows = ["a", "b", "a", null, "a", null].map((text, id) => ({ id, text }));
  expect(known.grouped(rows).map((group) => group.rows.map(({ id }) => id))).toEqual([[0, 2, 4], [1], [3, 5]]);
});

test("values that look alike are different sources", () => {
  const values: unknown[] = [
    null,
    "",
    "null",
    "NaN",
    Number.NaN,
    Infinity,
    -Infinity,
    0,
    -0,
    "0",
    0n,
    [0],
    [Number.NaN],
    [null],
    [],
    {},
    new Uint8Array([1, 255]),
    new Uint8Array([1, 254]),
  ];
  const known = new KnownValues(["text"]);
  const groups = known.grouped(values.map((text) => ({ text }) as RowValues));
  expect(groups).toHaveLength(values.length);
  const two = new KnownValues(["a", "b"]);
  expect(two.grouped([{ a: "x", b: null }, { a: null, b: "x" }, { a: "x" }])).toHaveLength(2);
});

test("a value that was added is known, and null is one", () => {
  const { add, valueOf } = aScene();
  add("a", [1, 2]);
  add("b", null);
  expect([valueOf("a"), valueOf("b"), valueOf("c")]).toEqual([[1, 2], null, undefined]);
});

test("what was not used for longest is dropped when the values take too much memory", () => {
  const vector = Array.from({ length: 100 }, () => 1);
  const { add, valueOf } = aScene(3 * 1_100);
  for (const text of ["a", "b", "c"]) add(text, vector);
  expect(valueOf("a")).toBeDefined();
  add("d", vector);
  expect(["a", "b", "c", "d"].map((text) => valueOf(text) !== undefined)).toEqual([true, false, true, true]);
  // A value that was replaced is counted once.
  for (let times = 0; times < 10; times++) add("d", vector);
  expect(["a", "c", "d"].map((text) => valueOf(text) !== undefined)).toEqual([true, true, true]);
});

test.for<[string, RowValue, number]>([
  ["texts", "x".repeat(1_000), 3_000],
  ["structs", { list: [["x".repeat(1_000)]] }, 3_000],
  ["vectors", new Float64Array(300) as unknown as RowValue, 3_000],
])("the size of %s counts, and one that is too large drops no others", ([, value, most]) => {
  const { add, valueOf } = aScene(most);
  add("small", 1);
  add("large", value);
  expect([valueOf("small"), valueOf("large")]).toEqual([1, value]);
  add("larger", [value, value]);
  expect([valueOf("small"), valueOf("large"), valueOf("larger")]).toEqual([1, value, undefined]);
});

test("a value does not keep the buffer of its whole call, nor change with it", () => {
  const { add, valueOf } = aScene();
  const call = new Float32Array(1_000).fill(1);
  add("a", call.subarray(0, 2) as unknown as RowValue);
  call.fill(2);
  const value = valueOf("a") as unknown as Float32Array;
  expect([...value]).toEqual([1, 1]);
  expect(value.buffer.byteLength).toBe(8);
});
