import { expect, test } from "vitest";
import type { Action } from "../../../../src/actions/model/action.ts";
import { madeByOthers } from "../../../../src/run/check/made-by-others.ts";
import { columnsOf, int32 } from "../../../../src/schema/declare/type-builders.ts";

const columns = columnsOf({ a: int32() });
const empty: Action = { kind: "createTable", table: "t", columns };
const filled: Action = { ...empty, rows: [{ a: 1 }] };
const place = { version: 2, action: 1 };

test.each<["refused" | "begun" | "unknown", boolean | undefined, string | undefined]>([
  ["refused", true, undefined],
  ["refused", false, "table t exists without the 1 row of this step; another program created it"],
  ["begun", undefined, undefined],
  ["unknown", undefined, "it is unknown whether it was made with the 1 row of this step"],
])(
  "a table with rows, after a call that is %s, and of which the target says that they are there: %s",
  async (call, isThere, words) => {
    const holds = async () => isThere;
    const found = await madeByOthers(filled, call, { holds }, place);
    expect(found).toEqual(words && expect.stringContaining(words));
    expect(await madeByOthers(empty, call, { holds }, place)).toBeUndefined();
  },
);

test("where the target can't be asked, what was not refused counts as done", async () => {
  expect(await madeByOthers(filled, "unknown", { holds: undefined }, place)).toBeUndefined();
  expect(await madeByOthers(filled, "refused", { holds: undefined }, place)).toContain("it is unknown whether");
});
