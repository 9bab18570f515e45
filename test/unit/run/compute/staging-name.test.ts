import { expect, test } from "vitest";
import { isStaging, preparingName, stagingName } from "../../../../src/run/compute/staging-name.ts";

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
