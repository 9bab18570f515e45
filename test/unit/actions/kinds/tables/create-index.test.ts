import { expect, test } from "vitest";
import { columnsOf, int8, list, struct, utf8, vector } from "../../../../../src/schema/declare/type-builders.ts";
import { bitmap, btree, fts, ivfFlat } from "../../../../../src/schema/declare/index-builders.ts";
import type { Action } from "../../../../../src/actions/model/action.ts";
import {
  changesRows,
  commitsOf,
  describeAction,
  invert,
  risksOf,
  tableAfter,
} from "../../../../../src/actions/apply-action.ts";
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

test("an index that nothing can create again has no way back", () => {
  const stuck = {
    ...table,
    indexes: { i: { path: "b", kind: "fts", options: {}, stuck: "its tokenizer is unknown" } },
  } as Table;
  expect(invert({ kind: "dropIndex", table: "t", name: "i" }, new Map([["t", stuck]]))).toEqual({
    lost: "index i can't be recreated: its tokenizer is unknown",
  });
});

test.each<[string, Action, string]>([
  [
    "a name that is taken",
    create("b", fts(), "there"),
    "index there of t is there already; pass { replace: true }, or drop it first",
  ],
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

const replacing = (action: Action) => ({ ...action, replace: true }) as Action;

test("one that replaces another takes its place on the same column, and its inverse is the old one", () => {
  const bitmapped = replacing(create("id", bitmap(), "there"));
  expect(after(bitmapped).indexes?.["there"]).toEqual({ path: "id", ...bitmap() });
  expect(changesRows(bitmapped)).toBe(true);
  expect(invert(bitmapped, new Map([["t", table]]))).toEqual({
    actions: [replacing(create("id", btree(), "there"))],
    blockers: [],
  });
  const [drop] = [{ kind: "dropIndex", table: "t", name: "gone" }];
  expect(invert(replacing(create("id", btree(), "gone")), new Map([["t", table]]))).toMatchObject({ actions: [drop] });
  expect(invert(replacing(create("id", btree(), "other")), new Map([["t", table]]))).toMatchObject({
    lost: "no migration created index other, so how to recreate it is unknown",
  });
  expect(() => after(replacing(create("b", fts(), "there")))).toThrow(
    "index there of t is on id, and only an index on the same column can take its place; drop it first",
  );
});

test("with a condition, one that replaces an index brings that back, and one that is unknown is refused", () => {
  const conditioned = (name: string) =>
    ({ ...replacing(create("id", bitmap(), name)), condition: { minRecall: 1, k: 1, sample: 1 } }) as Action;
  const commits = (name: string) => commitsOf(conditioned(name), table, () => true);
  expect(commits("there")[1]).toMatchObject({ undo: [replacing(create("id", btree(), "there"))] });
  expect(commits("gone")[1]).toMatchObject({ undo: [{ kind: "dropIndex", name: "gone" }] });
  expect(() => commits("other")).toThrow("with minRecall, replace is for indexes of migrations");
});

test("in words, with what a vector index needs", () => {
  expect(describeAction(create("v", ivfFlat({ distanceType: "dot" })))).toBe(
    "create index i on t.v: ivfFlat(distanceType: dot)",
  );
  expect(risksOf(create("v", ivfFlat()), table)).toMatchObject([{ kind: "failure" }]);
  expect(risksOf(create("id", btree()), table)).toEqual([]);
});
