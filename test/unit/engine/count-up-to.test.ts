import { expect, test } from "vitest";
import { countUpTo } from "../../../src/engine/query.ts";
import { temporaryFolder } from "../../support/project.ts";
import { lancedb } from "../../support/tables.ts";

test("rows are counted up to a number, over several fragments", async () => {
  const db = await lancedb.connect(temporaryFolder());
  const table = await db.createTable("t", [{ a: 1, v: [1, 2] }]);
  await table.add([
    { a: 2, v: [3, 4] },
    { a: 3, v: null },
  ]);
  await table.add([{ a: 4, v: [5, 6] }]);
  await table.delete("a = 1");
  const upTo = async (most: number, filter?: string) => await countUpTo(most, table, filter);
  expect([await upTo(1, "v IS NOT NULL"), await upTo(2, "v IS NOT NULL")]).toEqual([1, 2]);
  expect([await upTo(3, "v IS NOT NULL"), await upTo(100, "v IS NOT NULL")]).toEqual([2, 2]);
  expect([await upTo(2), await upTo(9), await upTo(9, "a > 9")]).toEqual([2, 3, 0]);
});
