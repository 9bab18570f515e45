import { expect, test } from "vitest";
import { columnsOf, int8, list, struct, utf8, vector } from "../../../../../src/schema/declare/type-builders.ts";
import { btree, fts, ivfFlat } from "../../../../../src/schema/declare/index-builders.ts";
import type { Action } from "../../../../../src/actions/model/action.ts";
import { describeAction, risksOf, tableAfter } from "../../../../../src/actions/apply-action.ts";
import type { IndexType } from "../../../../../src/schema/table-index.ts";
import type { Table } from "../../../../../src/schema/table.ts";

const create = (path: string, type: IndexType, name = "i"): Action => ({
  kind: "createIndex",
  table: "t",
  name,
  index: { path, ...type },
});
const table: Table = {
  columns: columnsOf({
    id: int8(),
    "1s": struct({ x: int8() }),
    l: list(struct({ x: int8() })),
    v: vector(2),
    b: utf8(),
  }),
  indexes: { there: { path: "id", ...btree() }, gone: null },
};
const after = (action: Action) => tableAfter(new Map([["t", table]]), action);

test("an index is known by its name, on a path without needless quotes", () => {
  expect(after(create("`id`", btree())).indexes).toEqual({ ...table.indexes, i: { path: "id", ...btree() } });
  expect(after(create("id", btree(), "gone")).indexes?.["gone"]).toEqual({ path: "id", ...btree() });
});

test.each<[string, Action, string]>([
  ["a name that is taken", create("b", fts(), "there"), "index there of t is there already; drop it first"],
  ["a missing column", create("nope", btree()), "t has no column nope"],
  ["a type that it is not for", create("id", fts()), "index i of t can't be on id: fts is for text and lists of text"],
  ["what is inside a list", create("l.item.x", btree()), "index i of t can't be on l.item.x, which is inside a list"],
  ["the item of a vector", create("v.item", btree()), "t.v has no column item"],
  [
    "a place that the engine can't read",
    create("1s.x", btree()),
    "index i of t can't be on 1s.x, as 1s begins with a digit",
  ],
])("refused: %s", (_, action, problem) => {
  expect(() => after(action)).toThrow(problem);
});

test("in words, with what a vector index needs", () => {
  expect(describeAction(create("v", ivfFlat({ distanceType: "dot" })))).toBe(
    "create index i on t.v: ivfFlat(distanceType: dot)",
  );
  expect(risksOf(create("v", ivfFlat()), table)).toMatchObject([{ kind: "failure" }]);
  expect(risksOf(create("id", btree()), table)).toEqual([]);
});
