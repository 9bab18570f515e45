import { expect, test } from "vitest";
import {
  partsOf,
  preparingName,
  resultsName,
  resultsOf,
  stagingName,
} from "../../../../../src/features/embed/compute/staging-name.ts";
import { isStaging } from "../../../../../src/ledger/journal/marker-name.ts";

const column = { table: "t", path: "v" };

test("the tables of a computation are those of its ledger", () => {
  const shard = { index: 1, of: 2 };
  for (const name of [stagingName, preparingName]) {
    for (const own of [name("_m", column), name("_m", column, shard)]) {
      expect(isStaging(own, "_m")).toBe(true);
      expect(isStaging(own, "_others")).toBe(false);
    }
  }
  expect(["_m", "t", "_m.computed", "x_m.computed-1"].filter((name) => isStaging(name, "_m"))).toEqual([]);
});

test.each([
  ["", undefined],
  ["-3-of-12", { index: 3, of: 12 }],
])("results go on in tables that follow each other%s", (suffix, shard) => {
  const column = { table: "docs", path: "v" };
  const first = resultsName("_m", column, shard);
  expect(first.endsWith(suffix)).toBe(true);
  const stem = resultsName("_m", column);
  const named = (part: number) => `${stem}.${part}${suffix}`;
  const { parts, nameOf } = partsOf([], first);
  expect([parts, nameOf(0), nameOf(1), nameOf(10)]).toEqual([[], first, named(1), named(10)]);
  const others = [`${stem}.1-3-of-11`, `${stem}-1-of-12`, resultsName("_m.1", column, shard), "docs"];
  const there = partsOf([...others, named(10), named(9), first], first);
  expect(there.parts).toEqual([first, named(9), named(10)]);
  expect(there.nameOf(0)).toBe(named(11));
  expect(resultsOf([named(10), named(9), first, "docs"], column)).toEqual([first, named(9), named(10)]);
  expect([...there.parts, nameOf(0)].every((name) => isStaging(name, "_m"))).toBe(true);
});
