import { expect, test } from "vitest";
import { follow, placeAfter, restOf } from "../../../../src/plan/compile/track-column.ts";
import type { Action } from "../../../../src/actions/model/action.ts";
import { formatPath, parsePath } from "../../../../src/schema/path.ts";

const alter = (path: string, to: object, table = "t"): Action => ({
  kind: "alterColumns",
  table,
  alterations: [{ path, ...to }],
});
const int64 = { kind: "int64" } as const;
const int32 = { kind: "int32" } as const;
const drop = (...paths: readonly string[]): Action => ({ kind: "dropColumns", table: "t", paths });
const renameTable: Action = { kind: "renameTable", table: "t", name: "u" };
const dropTable: Action = { kind: "dropTable", table: "t" };

/** Where a column of t is, with what it was cast to; "gone" when it is. */
function after(path: string, ...actions: readonly Action[]): string {
  const at = follow({ table: "t", path: parsePath(path), casts: [] }, actions);
  return at === undefined
    ? "gone"
    : [`${at.table}.${formatPath(at.path)}`, ...at.casts.map(({ kind }) => kind)].join(" ");
}

test.each<[string, readonly Action[], string]>([
  ["a", [], "t.a"],
  ["a", [alter("a", { rename: "b" })], "t.b"],
  ["a", [alter("a", { rename: "b" }), alter("b", { rename: "c" })], "t.c"],
  ["a", [alter("a", { rename: "b" }, "other")], "t.a"],
  ["s.x", [alter("s", { rename: "r" })], "t.r.x"],
  ["a", [renameTable], "u.a"],
  ["a", [renameTable, alter("a", { rename: "b" })], "u.a"],
  ["a", [renameTable, alter("a", { rename: "b" }, "u")], "u.b"],
  ["a", [dropTable], "gone"],
  ["a", [dropTable, alter("a", { rename: "b" })], "gone"],
  ["a", [drop("b")], "t.a"],
  ["a", [drop("b", "a")], "gone"],
  ["s.x", [drop("s")], "gone"],
  ["s", [drop("s.x")], "t.s"],
  ["a", [alter("a", { type: int64 })], "t.a int64"],
  ["a", [alter("a", { type: int64, rename: "b" }), alter("b", { type: int32 })], "t.b int64 int32"],
  ["a", [alter("b", { type: int64 })], "t.a"],
  // A cast around it, or inside it: its values are others.
  ["s.x", [alter("s", { type: int64 })], "gone"],
  ["s", [alter("s.x", { type: int64 })], "gone"],
  ["s.x", [alter("s.y", { type: int64 })], "t.s.x"],
  ["a", [{ kind: "convertColumn", table: "t", path: "a", type: int64, using: "1" }], "gone"],
  ["a", [{ kind: "convertColumn", table: "t", path: "b", type: int64, using: "1" }], "t.a"],
  ["a", [{ kind: "deleteRows", table: "t", where: "true" }], "t.a"],
])("%s after %j is %s", (path, actions, place) => {
  expect(after(path, ...actions)).toBe(place);
});

test("a table is followed through casts of its columns", () => {
  expect(follow({ table: "t", path: [], casts: [] }, [alter("a", { type: int64 }), renameTable])?.table).toBe("u");
});

test("the name of a column is followed though its values become others", () => {
  const at = { table: "t", path: ["s", "x"] };
  expect(placeAfter(at, alter("s", { type: int64, rename: "r" }))).toEqual({ table: "t", path: ["r", "x"] });
  expect(placeAfter(at, drop("s"))).toBeUndefined();
  expect(placeAfter(at, dropTable)).toBeUndefined();
  expect(placeAfter(at, renameTable)).toEqual({ ...at, table: "u" });
  expect(placeAfter({ ...at, table: "other" }, dropTable)).toEqual({ ...at, table: "other" });
});

test("the rest of a path is what it has after its beginning", () => {
  expect([restOf(["a", "b"], ["a"]), restOf(["a"], ["a"]), restOf(["a"], ["a", "b"]), restOf(["b"], ["a"])]).toEqual([
    ["b"],
    [],
    undefined,
    undefined,
  ]);
});
