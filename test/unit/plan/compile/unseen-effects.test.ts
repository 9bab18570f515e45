import { expect, test } from "vitest";
import { unseenOf } from "../../../../src/plan/compile/unseen-effects.ts";
import { columnsOf, int32 } from "../../../../src/schema/declare/type-builders.ts";

const create = { kind: "createTable", table: "t", columns: columnsOf({ id: int32() }) } as const;

test("the schema does not show whether a new table has the rows of its step", () => {
  expect(unseenOf({ ...create, rows: [{ id: 1 }, { id: 2 }] })).toMatchObject({
    where: "table t",
    what: "the 2 rows of this step",
  });
  expect(unseenOf(create)).toBeUndefined();
});
