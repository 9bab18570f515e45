import { expect, test } from "vitest";
import type { Action } from "../../../../src/actions/model/action.ts";
import { replay } from "../../../../src/plan/compile/replay.ts";
import { columnsOf, int32 } from "../../../../src/schema/declare/type-builders.ts";
import type { Tables } from "../../../../src/schema/table.ts";

const rename = (path: string, to: string): Action => ({
  kind: "alterColumns",
  table: "t",
  alterations: [{ path, rename: to }],
});
const place = { file: "0001_a.ts", step: 2, kind: "renameColumn" };

test("each action meets the tables that those before it leave", () => {
  const database = new Map([["t", { columns: columnsOf({ a: int32(), b: int32() }) }]]);
  const namesIn = (tables: Tables) => tables.get("t")!.columns.map(({ name }) => name);
  const names = replay(database, [{ action: rename("a", "c") }, { action: rename("c", "d") }], (_, before, after) => [
    namesIn(before),
    namesIn(after),
  ]);
  expect(names).toEqual([
    [
      ["a", "b"],
      ["c", "b"],
    ],
    [
      ["c", "b"],
      ["d", "b"],
    ],
  ]);
  expect(namesIn(database)).toEqual(["d", "b"]);
});

test("an action that can't work changes nothing, and its error names its place if it has one", () => {
  const table = { columns: columnsOf({ a: int32() }) };
  const database = new Map([["t", table]]);
  const wrong = rename("b", "c");
  expect(() => replay(database, [{ action: wrong }])).toThrow(/^t has no column b/);
  expect(() => replay(database, [{ action: wrong, place }])).toThrow(
    expect.objectContaining({ code: "ERR_STEP_IMPOSSIBLE", details: expect.objectContaining(place) }),
  );
  expect(database.get("t")).toBe(table);
});
