import {
  Float16,
  Float32,
  Float64,
  Int32,
  List,
  Precision,
  Field,
  Table,
  Utf8,
  tableToIPC,
  vectorFromArray,
  type DataType,
} from "apache-arrow";
import { expect, test } from "vitest";
import type { DataType as ColumnType } from "../../../../src/schema/data-type.ts";
import { canRead, sumOfRows } from "../../../../src/wire/rows/row-checksum.ts";

async function* each(...files: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* files;
}

function fileOf(type: DataType, ...values: readonly unknown[]): Buffer {
  return Buffer.from(tableToIPC(new Table({ a: vectorFromArray(values, type) }), "file"));
}

const sum = async (type: DataType, ...values: readonly unknown[]) => await sumOfRows(each(fileOf(type, ...values)));

test("rows are the same in whatever order and batches they come", async () => {
  const whole = await sum(new Int32(), 1, 2, null, 3);
  expect(whole.rows).toBe(4);
  expect(await sum(new Int32(), 3, null, 1, 2)).toEqual(whole);
  expect(await sumOfRows(each(fileOf(new Int32(), 2, 1), fileOf(new Int32(), 3), fileOf(new Int32(), null)))).toEqual(
    whole,
  );
});

const texts = new List(new Field("item", new Utf8(), true));

test.each([
  ["another value", new Int32(), [1, 2], [1, 3]],
  ["a row that is there twice instead of another", new Int32(), [1, 1, 2], [1, 2, 2]],
  ["two equal rows for none", new Int32(), [7], [7, 1, 1]],
  ["a null for a zero", new Int32(), [0, 1], [null, 1]],
  ["a null for an empty text", new Utf8(), ["", "a"], [null, "a"]],
  ["-0 for 0", new Float64(), [0], [-0]],
  ["an infinity for NaN", new Float64(), [Number.NaN], [Infinity]],
  ["letters in the next text", texts, [["ab", "c"]], [["a", "bc"]]],
  ["a null for an empty list", texts, [[], ["a"]], [null, ["a"]]],
])("%s is seen", async (_, type, one, other) => {
  expect((await sum(type, ...one)).sum).not.toBe((await sum(type, ...other)).sum);
});

test("a null in one column instead of another is seen", async () => {
  const file = (...columns: readonly (readonly (number | null)[])[]) => {
    const [a, b] = columns.map((values) => vectorFromArray(values, new Int32()));
    return Buffer.from(tableToIPC(new Table({ a: a!, b: b! }), "file"));
  };
  const [one, other] = [file([null], [1]), file([1], [null])];
  expect((await sumOfRows(each(one))).sum).not.toBe((await sumOfRows(each(other))).sum);
});

test.each([
  ["float16", new Float16(), [0x00, 0x7e], [0x01, 0xfe]],
  ["float32", new Float32(), [0x00, 0x00, 0xc0, 0x7f], [0x01, 0x00, 0xc0, 0xff]],
  ["float64", new Float64(), [0, 0, 0, 0, 0, 0, 0xf8, 0x7f], [1, 0, 0, 0, 0, 0, 0xf8, 0xff]],
])("one NaN of %s is as good as another, and no other value is one", async (_, type, usual, odd) => {
  const bytes = fileOf(type, 2, 2);
  const two = type.precision === Precision.HALF ? [0x00, 0x40] : [...new Uint8Array(type.ArrayType.of(2).buffer)];
  const at = bytes.indexOf(Buffer.from([...two, ...two]));
  const withNaN = (nan: readonly number[]) => {
    const copy = Buffer.from(bytes);
    copy.set(nan, at);
    return copy;
  };
  const sumOf = async (file: Buffer) => (await sumOfRows(each(file))).sum;
  expect(await sumOf(withNaN(odd))).toBe(await sumOf(withNaN(usual)));
  expect(await sumOf(withNaN(odd))).not.toBe(await sumOf(bytes));
});

test("what can't be read is known before", () => {
  const [map, int32] = [{ kind: "unknown", name: "map" }, { kind: "int32" }] as const;
  const listOf = (type: ColumnType) => ({ kind: "largeList" as const, item: { name: "item", type, nullable: true } });
  expect(canRead([{ name: "a", type: listOf(map), nullable: true }])).toBe(false);
  expect(canRead([{ name: "a", type: listOf(int32), nullable: true }])).toBe(true);
});
