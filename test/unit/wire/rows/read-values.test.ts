import * as arrow from "apache-arrow";
import { expect, test } from "vitest";
import { rowsIn } from "../../../../src/wire/rows/read-values.ts";

test.each([
  ["float32", new arrow.Float32()],
  ["float64", new arrow.Float64()],
])("code gets the nulls in lists of %s", (_, item) => {
  const list = new arrow.List(new arrow.Field("item", item, true));
  const file = arrow.tableToIPC(new arrow.Table({ v: arrow.vectorFromArray([[1.5, null], null], list) }));
  expect(rowsIn([Buffer.from(file)])).toEqual([{ v: [1.5, null] }, { v: null }]);
});

test("code gets a vector of doubles as a plain array", () => {
  const list = new arrow.FixedSizeList(2, new arrow.Field("item", new arrow.Float64(), true));
  const file = arrow.tableToIPC(new arrow.Table({ v: arrow.vectorFromArray([[0.1, 1e300]], list) }));
  expect(rowsIn([Buffer.from(file)])).toStrictEqual([{ v: [0.1, 1e300] }]);
});
