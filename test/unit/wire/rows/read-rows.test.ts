import * as arrow from "apache-arrow";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readRows } from "../../../../src/wire/rows/read-rows.ts";

const whole = (least: number, most: number) => fc.integer({ min: least, max: most });
const big = fc.bigInt({ min: -(2n ** 53n) + 1n, max: 2n ** 53n - 1n });

/** Types, values as apache-arrow takes them, and what a row holds for a value. */
const kinds: readonly (readonly [arrow.DataType, fc.Arbitrary<unknown>, ((value: never) => unknown)?])[] = [
  [new arrow.Utf8(), fc.string({ unit: "grapheme" })],
  [new arrow.LargeUtf8(), fc.string()],
  [new arrow.Int8(), whole(-128, 127)],
  [new arrow.Uint16(), whole(0, 65_535)],
  [new arrow.Int32(), whole(-(2 ** 31), 2 ** 31 - 1)],
  [new arrow.Uint32(), whole(0, 2 ** 32 - 1)],
  [new arrow.Int64(), big, Number],
  [new arrow.Uint64(), fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }), Number],
  [new arrow.TimestampMillisecond("UTC"), whole(-(2 ** 42), 2 ** 42)],
  [new arrow.TimestampSecond(), whole(-(2 ** 31), 2 ** 31).map((seconds) => seconds * 1_000)],
];

const column = fc
  .constantFrom(...kinds)
  .chain(([type, value, shown = (given: never) => given]) =>
    fc.array(fc.option(value, { freq: 4 }), { minLength: 4, maxLength: 20 }).map((values) => ({ type, values, shown })),
  );

test("rows are read as they were written, in two batches", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(column, { minLength: 1, maxLength: 5 }), whole(0, 4), async (columns, cut) => {
      const rows = Math.min(...columns.map(({ values }) => values.length));
      const named = columns.map((one, index) => [`c${index}`, one] as const);
      const part = (from: number, to: number) =>
        new arrow.Table(
          Object.fromEntries(
            named.map(([name, { type, values }]) => [name, arrow.vectorFromArray(values.slice(from, to), type)]),
          ),
        );
      const bytes = arrow.tableToIPC(part(0, cut).concat(part(cut, rows)), "stream");
      const expected = Array.from({ length: rows }, (_, row) =>
        Object.fromEntries(
          named.map(([name, { values, shown }]) => [name, values[row] === null ? null : shown(values[row] as never)]),
        ),
      );
      expect(readRows(Buffer.from(bytes), Object.keys(expected[0]!))).toEqual(expected);
    }),
  );
});

describe("what is refused", () => {
  const bytesOf = (values: Record<string, arrow.Vector>) => Buffer.from(arrow.tableToIPC(new arrow.Table(values)));
  const text = arrow.vectorFromArray(["a"], new arrow.Utf8());
  test.each([
    ["a missing column", bytesOf({ b: text }), /there is no column a/],
    ["another type", bytesOf({ a: arrow.vectorFromArray([1.5]) }), /a is neither a text nor a whole number nor a time/],
    ["a dictionary", bytesOf({ a: arrow.vectorFromArray(["x"]) }), /a is neither a text nor a whole number nor a time/],
    ["what is cut short", bytesOf({ a: text }).subarray(0, -20), /cut short/],
    ["nothing", Buffer.alloc(0), /is empty/],
  ])("%s", (_, bytes, problem) => {
    expect(() => readRows(bytes, ["a"])).toThrow(problem);
  });

  test("changed bytes throw, or are read, and take no time", () => {
    const bytes = bytesOf({ a: text, b: arrow.vectorFromArray([1, 2, 3], new arrow.Int32()) });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(whole(0, bytes.length - 1), whole(0, 255)), { minLength: 1, maxLength: 4 }),
        (changes) => {
          const changed = Buffer.from(bytes);
          for (const [at, value] of changes) changed[at] = value;
          try {
            expect(readRows(changed, ["a", "b"]).length).toBeLessThan(10_000_000);
          } catch (error) {
            expect(error).toBeInstanceOf(Error);
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
