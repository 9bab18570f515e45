import { expect, test } from "vitest";
import { columnsOf, int64, vector } from "../../../../src/schema/declare/type-builders.ts";
import { assignments } from "../../../../src/targets/contract/assignments.ts";

const columns = columnsOf({ id: int64(), v: vector(2), "a b": int64() });

test("the engine is given columns without quotes", () => {
  expect(assignments({ set: { "`id`": "1", "`a b`": "2" } }, columns)).toEqual([
    ["id", "1"],
    ["a b", "2"],
  ]);
});

test("a vector is cast, so that one that does not fit is an error; null is not", () => {
  expect(assignments({ set: { v: "[1, 2]" } }, columns)).toEqual([
    ["v", "arrow_cast(([1, 2]), 'FixedSizeList(2, Float32)')"],
  ]);
  expect(assignments({ set: { v: "NULL" } }, columns)).toEqual([["v", "NULL"]]);
});

test("a vector whose items have no name in SQL is set as it is given", () => {
  const item = { name: "item", type: { kind: "unknown", name: "decimal256(40, 2)" }, nullable: true } as const;
  const odd = [{ name: "v", type: { kind: "fixedSizeList", item, length: 2 }, nullable: true }] as const;
  expect(assignments({ set: { v: "w" } }, odd)).toEqual([["v", "w"]]);
});
