/** The actions on tables as a whole, on indexes by name and on metadata. */
import { expect, test } from "vitest";
import type { Action } from "../../../../../src/actions/model/action.ts";
import { describeAction, tablesAfter, tablesOfAction } from "../../../../../src/actions/apply-action.ts";
import { columnsOf, int8, struct } from "../../../../../src/schema/declare/type-builders.ts";
import type { Table } from "../../../../../src/schema/table.ts";

const table: Table = {
  columns: columnsOf({ id: int8(), s: struct({ x: int8() }) }),
  indexes: { i: { path: "id", kind: "btree", options: {} }, gone: null },
};
const after = (action: Action) =>
  tablesAfter(
    new Map([
      ["t", table],
      ["u", table],
    ]),
    action,
  );
const rename = (to: string): Action => ({ kind: "renameTable", table: "t", name: to });
const dropIndex = (name: string): Action => ({ kind: "dropIndex", table: "t", name });

test("a dropped table is gone", () => {
  expect(after({ kind: "dropTable", table: "t" })).toEqual(new Map([["t", undefined]]));
});

test("a renamed table is another with all that it had", () => {
  expect(after(rename("v"))).toEqual(
    new Map([
      ["t", undefined],
      ["v", table],
    ]),
  );
  expect(tablesOfAction(rename("v"))).toEqual(["t", "v"]);
});

test("a dropped index is known to be gone, also one that an application made", () => {
  expect(after(dropIndex("i")).get("t")?.indexes).toEqual({ i: null, gone: null });
  expect(after(dropIndex("theirs")).get("t")?.indexes).toEqual({ ...table.indexes, theirs: null });
});

test("metadata is set key by key, also of a field, and null is known to be gone", () => {
  const set = (metadata: Readonly<Record<string, string | null>>): Action => ({
    kind: "setMetadata",
    table: "t",
    updates: [{ path: "s.x", metadata }],
  });
  const first = after(set({ unit: "EUR", old: null })).get("t")!;
  const second = tablesAfter(new Map([["t", first]]), set({ unit: null, model: "e5" })).get("t")!;
  expect(second.columns[1]?.type).toMatchObject({ fields: [{ metadata: { unit: null, old: null, model: "e5" } }] });
  expect(second.indexes).toEqual(table.indexes);
});

test.each<[string, Action, string]>([
  ["a table that is not there", { kind: "dropTable", table: "v" }, "no migration before this creates a table v"],
  ["a new name that is taken", rename("u"), "table u exists already at this point"],
  ["a new name that is none", rename("a b"), 'table name "a b"'],
  ["an index that is known to be gone", dropIndex("gone"), "index gone of t is not there at this point"],
  [
    "metadata of a missing field",
    { kind: "setMetadata", table: "t", updates: [{ path: "s.y", metadata: { a: "b" } }] },
    "t.s has no column y",
  ],
])("refused: %s", (_, action, problem) => {
  expect(() => after(action)).toThrow(problem);
});

test("in words", () => {
  const metadata: Action = {
    kind: "setMetadata",
    table: "t",
    updates: [{ path: "id", metadata: { a: 'b"', c: null } }],
  };
  expect(
    [{ kind: "dropTable", table: "t" } as const, rename("v"), dropIndex("i"), metadata].map(describeAction),
  ).toEqual([
    "drop table t",
    "rename table t to v",
    "drop index i of t",
    'set a of t.id to "b\\"", remove c from t.id',
  ]);
});
