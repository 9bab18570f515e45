import { expect, test } from "vitest";
import { asSeen, toKeep, withKept } from "../../../../src/plan/commits/preserved.ts";
import type { Action } from "../../../../src/actions/model/action.ts";
import { columnsOf, int32, struct } from "../../../../src/schema/declare/type-builders.ts";
import { btree, fts } from "../../../../src/schema/declare/index-builders.ts";
import type { Column } from "../../../../src/schema/data-type.ts";
import type { Table } from "../../../../src/schema/table.ts";

const action: Action = { kind: "alterColumns", table: "t", alterations: [] };
const [id] = columnsOf({ id: int32() });
const x: Column = { name: "x", type: { kind: "int32" }, nullable: true, metadata: { unit: "EUR" } };
const s: Column = { name: "s", type: { kind: "struct", fields: [x] }, nullable: true };
const index = { path: "id", ...btree() };

test("indexes and metadata are kept, at any depth, and nothing of what is not there", () => {
  const seen: Table = { columns: [{ ...id!, metadata: { a: "b", old: null } }, s], indexes: { i: index, gone: null } };
  expect(toKeep(seen, new Set(["id", "s"]))).toEqual({
    indexes: { i: index },
    metadata: { id: { a: "b" }, "s.x": { unit: "EUR" } },
  });
});

test("a table without either has nothing to keep", () => {
  expect(
    toKeep({ columns: columnsOf({ id: int32(), s: struct({ x: int32() }) }), indexes: {} }, new Set(["id", "s"])),
  ).toBeUndefined();
});

test("nothing is kept of columns that stay as they are", () => {
  const seen: Table = { columns: [{ ...id!, metadata: { a: "b" } }, s], indexes: { i: index } };
  expect(toKeep(seen, new Set(["s"]))).toEqual({ indexes: {}, metadata: { "s.x": { unit: "EUR" } } });
});

test("what was kept is known again of a table of which less was known", () => {
  const known: Table = { columns: [{ ...id!, metadata: { a: "of the migrations" } }], indexes: { i: null } };
  const kept = { indexes: { i: index, j: { path: "id", ...fts() } }, metadata: { id: { a: "b", c: "d" } } };
  expect(withKept(new Map([["t", known]]), action, kept).get("t")).toEqual({
    columns: [{ ...id!, metadata: { a: "of the migrations", c: "d" } }],
    indexes: { i: null, j: { path: "id", ...fts() } },
  });
});

test("an index that somebody has made again in a way that can't be recreated is known to be that", () => {
  const known: Table = { columns: [id!], indexes: { i: index } };
  const seen: Table = { columns: [id!], indexes: { i: { ...index, stuck: "its kind is unknown" } } };
  expect(asSeen(known, seen).indexes).toEqual(seen.indexes);
});

test("where nothing was kept, or there is no table, nothing changes", () => {
  const before = new Map([["t", { columns: [id!] }]]);
  expect(withKept(before, action, undefined)).toBe(before);
  const none = new Map([["t", undefined]]);
  expect(withKept(none, action, { indexes: {}, metadata: {} })).toBe(none);
});
