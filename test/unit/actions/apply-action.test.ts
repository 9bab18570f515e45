import { expect, test } from "vitest";
import type { Action } from "../../../src/actions/model/action.ts";
import { describeAction } from "../../../src/actions/apply-action.ts";
import { applyAction } from "../../support/fold.ts";
import { columnsOf, int8, int64, list, struct, utf8 } from "../../../src/schema/declare/type-builders.ts";
import type { ColumnType } from "../../../src/schema/typed/shape.ts";

function create(table: string, columns: Readonly<Record<string, ColumnType>> = { id: int8() }): Action {
  return { kind: "createTable", table, columns: columnsOf(columns) };
}

test("an altered table is the only one that changes", () => {
  const before = applyAction(applyAction(new Map(), create("t")), create("u"));
  const after = applyAction(before, { kind: "alterColumns", table: "t", alterations: [{ path: "id", rename: "key" }] });
  expect([...after.keys()]).toEqual(["t", "u"]);
  expect(after.get("t")).toEqual({ columns: columnsOf({ key: int8() }) });
  expect(after.get("u")).toBe(before.get("u"));
  expect(before.get("t")).toEqual({ columns: columnsOf({ id: int8() }) });
});

test.each<[string, Action, object]>([
  ["a table twice", create("t"), { code: "ERR_TABLE_EXISTS", details: { table: "t" } }],
  ["a table name with a space", create("a b"), { code: "ERR_TABLE_NAME" }],
  ["a column name with a dot", create("u", { "a.b": int8() }), { code: "ERR_COLUMN_NAME" }],
  ["a nested reserved name", create("u", { s: struct({ _rowid: int8() }) }), { code: "ERR_COLUMN_NAME" }],
  ["columns that differ in case alone", create("u", { a: int8(), A: int8() }), { code: "ERR_COLUMN_DUPLICATE" }],
  [
    "an alteration of a table that is not there",
    { kind: "alterColumns", table: "tt", alterations: [{ path: "id", rename: "key" }] },
    { code: "ERR_TABLE_MISSING", details: { table: "tt", similar: "t" } },
  ],
])("refused: %s", (_, action, error) => {
  const database = applyAction(new Map(), create("t"));
  expect(() => applyAction(database, action)).toThrow(expect.objectContaining(error));
});

test.each<[string, Action]>([
  ["create table t (id int8 not null, tags list<utf8>)", create("t", { id: int8().notNull(), tags: list(utf8()) })],
  [
    "rename t.a to b, retype t.c to int64",
    {
      kind: "alterColumns",
      table: "t",
      alterations: [
        { path: "a", rename: "b" },
        { path: "c", type: int64().type },
      ],
    },
  ],
])("the action is described as: %s", (words, action) => {
  expect(describeAction(action)).toBe(words);
});
