import { expect, test } from "vitest";
import { followValues, originOf } from "../../../src/actions/follow.ts";
import type { Action } from "../../../src/actions/model/action.ts";
import { formatPath, parsePath } from "../../../src/schema/path.ts";

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
  const at = followValues({ table: "t", path: parsePath(path) }, actions);
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

test("the origin of a column is the one that the actions turn into it", () => {
  const column = { type: int64, nullable: true };
  const struct = { name: "s", type: { kind: "struct" as const, fields: [{ name: "x", ...column }] }, nullable: true };
  const before = new Map([["t", { columns: [{ name: "a", ...column }, { name: "b", ...column }, struct] }]]);
  const swap: Action = {
    kind: "alterColumns",
    table: "t",
    alterations: [
      { path: "a", rename: "b" },
      { path: "b", rename: "a" },
    ],
  };
  expect(originOf({ table: "u", path: ["a"] }, [swap, renameTable], before)).toEqual({ table: "t", path: ["b"] });
  expect(originOf({ table: "t", path: ["r", "x"] }, [alter("s", { rename: "r" })], before)).toEqual({
    table: "t",
    path: ["s", "x"],
  });
  expect(originOf({ table: "t", path: ["a"] }, [drop("a")], before)).toBeUndefined();
  expect(originOf({ table: "u", path: [] }, [renameTable], before)).toEqual({ table: "t", path: [] });
});
