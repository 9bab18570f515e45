import { expect, test } from "vitest";
import {
  columnsOf,
  int8,
  list,
  struct,
  utf8,
  vector,
  fixedSizeList,
} from "../../../../../src/schema/declare/type-builders.ts";
import type { ColumnType } from "../../../../../src/schema/typed/shape.ts";
import type { Action } from "../../../../../src/actions/model/action.ts";
import { describeAction, risksOf, tableAfter } from "../../../../../src/actions/apply-action.ts";
import type { Table } from "../../../../../src/schema/table.ts";

const drop = (...paths: readonly string[]): Action => ({ kind: "dropColumns", table: "t", paths });
const aTable = (columns: Readonly<Record<string, ColumnType>>): Table => ({ columns: columnsOf(columns) });
const after = (table: Table, action: Action) => tableAfter(new Map([["t", table]]), action);

test.each<[string, ColumnType, string, ColumnType | undefined]>([
  ["a field of a struct", struct({ x: int8(), y: utf8() }), "a.x", struct({ y: utf8() })],
  ["the last field of a struct", struct({ x: int8() }), "a.x", undefined],
  ["a field of structs in a list", list(struct({ x: int8(), y: utf8() })), "a.item.x", list(struct({ y: utf8() }))],
  ["the last field of structs in a list", list(struct({ x: int8() })), "a.item.x", undefined],
  [
    "a field in a vector",
    fixedSizeList(struct({ x: int8(), y: int8() }), 2),
    "a.item.y",
    fixedSizeList(struct({ x: int8() }), 2),
  ],
  ["a column as a whole", vector(4), "a", undefined],
])("%s is dropped, and what holds nothing else with it", (_, type, path, left) => {
  const table = after(aTable({ id: int8(), a: type }), drop(path));
  expect(table).toEqual(aTable(left === undefined ? { id: int8() } : { id: int8(), a: left }));
});

test.each<[string, readonly string[], string]>([
  ["a missing column", ["nope"], "t has no column nope at this point; it has id, l"],
  ["one column twice", ["l", "l"], "t has no column l at this point; it has id"],
  ["the item of a list", ["l.item"], "t: the engine drops a list together with its item l.item; drop l"],
  ["all columns", ["id", "l"], "t: l is its last column; drop the table instead"],
])("refused: %s", (_, paths, problem) => {
  expect(() => after(aTable({ id: int8(), l: list(int8()) }), drop(...paths))).toThrow(problem);
});

test("an index goes with its column, or with what its column is in", () => {
  const index = { kind: "btree", options: {} } as const;
  const table: Table = {
    ...aTable({ id: int8(), s: struct({ x: int8() }) }),
    indexes: { on_id: { ...index, path: "id" }, on_x: { ...index, path: "s.x" }, gone: null },
  };
  expect(after(table, drop("s")).indexes).toEqual({ on_id: { ...index, path: "id" }, on_x: null, gone: null });
});

test("in words, with what is lost", () => {
  expect(describeAction(drop("a", "s.x"))).toBe("drop t.a, drop t.s.x");
  expect(risksOf(drop("a"), aTable({ a: int8() }))).toEqual([
    { kind: "loss", text: "t.a is dropped with its values", blocker: { kind: "values", table: "t", path: "a" } },
  ]);
});
