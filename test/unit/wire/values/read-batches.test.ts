/** Data that is not as it describes itself is refused, and never read as other values. */
import {
  Bool,
  Dictionary,
  Field,
  Int32,
  List,
  Table,
  Utf8,
  tableToIPC,
  vectorFromArray,
  type DataType,
} from "apache-arrow";
import { expect, test } from "vitest";
import { rowsIn } from "../../../../src/wire/rows/read-values.ts";

function streamOf(type: DataType, values: readonly unknown[]): Buffer {
  return Buffer.from(tableToIPC(new Table({ a: vectorFromArray(values, type) }), "stream"));
}

/** The same data with other numbers of 32 bits in the place of these. */
function withNumbers(bytes: Buffer, from: readonly number[], to: readonly number[]): Buffer {
  const at = bytes.lastIndexOf(Buffer.from(Int32Array.from(from).buffer));
  expect(at).toBeGreaterThan(0);
  const copy = Buffer.from(bytes);
  Buffer.from(Int32Array.from(to).buffer).copy(copy, at);
  return copy;
}

const texts = streamOf(new Utf8(), ["ab", "cd", "efgh"]);
const lists = (item: DataType, values: readonly unknown[]) => streamOf(new List(new Field("item", item, true)), values);

test.each([
  ["texts that overlap", withNumbers(texts, [0, 2, 4, 8], [0, 5, 2, 8])],
  ["a text that begins before the first letter", withNumbers(texts, [0, 2, 4, 8], [-3, 2, 4, 8])],
  ["a text that ends after the last letter", withNumbers(texts, [0, 2, 4, 8], [0, 2, 4, 100])],
  ["a text in the middle that does", withNumbers(texts, [0, 2, 4, 8], [0, 100, 4, 8])],
  ["lists that overlap", withNumbers(lists(new Int32(), [[7, 8], [9]]), [0, 2, 3], [0, 9, 3])],
  ["a list that ends after the last item", withNumbers(lists(new Bool(), [[true], [false]]), [0, 1, 2], [0, 1, 30])],
  [
    "a place that a dictionary does not have",
    withNumbers(streamOf(new Dictionary(new Utf8(), new Int32()), ["x", "y", "x"]), [0, 1, 0], [0, 7, 0]),
  ],
])("%s: refused", (_, bytes) => {
  expect(() => rowsIn([bytes])).toThrow("a has fewer values than there are rows");
});

test("a dictionary may be left out where there are no values", () => {
  expect(rowsIn([streamOf(new Dictionary(new Utf8(), new Int32()), [])])).toEqual([]);
});
