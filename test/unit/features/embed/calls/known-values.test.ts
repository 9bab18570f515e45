import { expect, test } from "vitest";
import { KnownValues } from "../../../../../src/features/embed/calls/known-values.ts";
import type { RowValue, RowValues } from "../../../../../src/schema/row-values.ts";

/** Adds a value for each text, and returns for which of the texts a value is known. */
function aScene(mostBytes?: number) {
  const known = new KnownValues(["text"], undefined, mostBytes);
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

test("rows with one mark are together, and their sources are not compared", () => {
  const known = new KnownValues(["text"], "mark");
  const rows = ["a", "b", "a"].map((mark, text) => ({ mark, text }));
  expect(known.grouped(rows).map((group) => group.rows.map(({ text }) => text))).toEqual([[0, 2], [1]]);
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

test.each<{ what: string; call: Float32Array | Buffer; size: number }>([
  { what: "numbers", call: new Float32Array(1_000), size: 8 },
  { what: "bytes", call: Buffer.alloc(100_000), size: 2 },
])("a value of $what does not keep the buffer of its whole call, nor change with it", ({ call, size }) => {
  const { add, valueOf } = aScene();
  call.fill(1);
  add("a", call.subarray(0, 2) as unknown as RowValue);
  call.fill(2);
  const value = valueOf("a") as unknown as Float32Array;
  expect([...value]).toEqual([1, 1]);
  expect(value.buffer.byteLength).toBe(size);
});

test("a vector takes the memory of one that was dropped, unless rows have that", () => {
  const vector = (item: number, length = 100) => new Float64Array(length).fill(item) as unknown as RowValue;
  const { add, valueOf } = aScene(2 * 1_100);
  add("a", vector(1));
  const used = valueOf("a");
  add("b", vector(2));
  for (const [item, text] of [...Array.from({ length: 10 }, (_, at) => `c${at}`), "d"].entries())
    add(text, vector(item));
  add("e", vector(20, 99));
  add("f", vector(30, 100));
  expect(used).toEqual(vector(1));
  expect([valueOf("a"), valueOf("b"), valueOf("d")]).toEqual([undefined, undefined, undefined]);
  expect([valueOf("e"), valueOf("f")]).toEqual([vector(20, 99), vector(30, 100)]);
});
