import { expect, test } from "vitest";
import { carrySizes, costOf, total, totalOf, type Cost, type Size } from "../../../../src/plan/assess/cost.ts";
import type { Action } from "../../../../src/actions/model/action.ts";
import { columnsOf, int32, int64, largeUtf8, utf8 } from "../../../../src/schema/declare/type-builders.ts";
import type { DataType } from "../../../../src/schema/data-type.ts";
import type { Tables } from "../../../../src/schema/table.ts";

const before: Tables = new Map([["t", { columns: columnsOf({ a: int32(), b: utf8() }), indexes: {} }]]);
const some = (more: Partial<Cost>): Cost => ({ rows: 0, bytes: 0, added: 0, indexes: [], versions: 1, ...more });
const retype = (path: string, type: DataType = int64().type): Action => ({
  kind: "alterColumns",
  table: "t",
  alterations: [{ path, type }],
});
const rename: Action = { kind: "alterColumns", table: "t", alterations: [{ path: "a", rename: "c" }] };
const update: Action = { kind: "updateRows", table: "t", set: { a: "1" }, where: "a = 2" };

const cost = (action: Action, size?: Size, widths: Record<string, number> = {}, where?: number | null) =>
  costOf([{ action, before }], new Map(size && [["t", size]]), new Map(Object.entries(widths)), where);

test.each<[string, Cost, Partial<Cost>]>([
  ["a rename", cost(rename, { rows: 10 }), {}],
  ["a retype of ten rows", cost(retype("a"), { rows: 10 }), { rows: 10, bytes: 80 }],
  ["a retype of no rows", cost(retype("b", largeUtf8().type), { rows: 0 }), { rows: 0, bytes: 0 }],
  ["a retype of unknown rows", cost(retype("a")), { rows: null, bytes: null }],
  ["texts of known length", cost(retype("b", largeUtf8().type), { rows: 3 }, { b: 1.5 }), { rows: 3, bytes: 5 }],
  ["texts of unknown length", cost(retype("b", largeUtf8().type), { rows: 3 }), { rows: 3, bytes: null }],
  [
    "texts of rows that the plan makes",
    cost(retype("b", largeUtf8().type), { rows: 3, rowBytes: 7 }),
    { rows: 3, bytes: 21 },
  ],
  ["a table that is dropped", cost({ kind: "dropTable", table: "t" }, { rows: 3 }), { versions: 0 }],
  [
    "an index",
    cost({ kind: "createIndex", table: "t", name: "i", index: { path: "a", kind: "btree", options: {} } }, { rows: 3 }),
    { indexes: ["i"] },
  ],
  [
    "rows that are added",
    cost({ kind: "insertRows", table: "t", key: "a", rows: [{ a: 1 }, { a: 2 }] }, { rows: 3 }),
    { added: 2 },
  ],
])("what %s costs", (_, found, expected) => {
  expect(found).toEqual(some(expected));
});

test("an update writes the rows that were counted, or all of them", () => {
  expect(cost(update, { rows: 10 }, {}, 4).rows).toBe(4);
  expect(cost(update, { rows: 10 }).rows).toBe(10);
  expect(cost({ ...update, where: undefined } as Action, { rows: 10 }, {}, 4).rows).toBe(10);
});

test("of one table rows count once, and of several tables together", () => {
  const costs = [some({ rows: 3, bytes: 5, added: 1, indexes: ["i"] }), some({ rows: 2, bytes: 1, added: 2 })];
  expect(total(costs)).toEqual({ rows: 3, bytes: 6, added: 3, indexes: ["i"], versions: 2 });
  expect(totalOf(costs)).toEqual({ rows: 5, bytes: 6, added: 3, indexes: ["i"], versions: 2 });
  const unknown = [some({ rows: null, bytes: null, added: null }), some({ rows: 2, bytes: 1, added: 2 })];
  expect(total(unknown)).toMatchObject({ rows: null, bytes: null, added: null });
  expect(totalOf([...unknown].toReversed())).toMatchObject({ rows: null, bytes: null, added: null });
  expect(total([])).toEqual(some({ versions: 0 }));
});

const fill = (change: object = {}): Action => ({
  kind: "fillColumn",
  table: "t",
  path: "a",
  from: ["b"],
  key: "k",
  with: "./code.ts",
  version: "1",
  ...change,
});

test("what code computes costs calls, a price and time, as far as that is stated", () => {
  const size = { rows: 10_000 };
  expect(cost(fill(), size, {}, 1_001)).toEqual(
    some({ rows: 1_001, bytes: 4_004, computed: { rows: 1_001, calls: 16 } }),
  );
  const stated = { batch: 100, pricePer1000Rows: 1.1, callsPerMinute: 60 };
  expect(cost(fill(stated), size, {}, 300).computed).toEqual({ rows: 300, calls: 3, price: 0.33, seconds: 2 });
  expect(cost(fill(stated), size, {}, 0).computed).toEqual({ rows: 0, calls: 0, price: 0, seconds: 0 });
  expect(cost(fill(stated), size, {}, null)).toEqual(
    some({ rows: null, bytes: null, computed: { rows: null, calls: null, price: null, seconds: null } }),
  );
});

test("of several computations the costs are added; without the price of one, the total is unknown", () => {
  const first = { rows: 3, calls: 1, price: 2, seconds: 5 };
  const added = (...computed: readonly Cost["computed"][]) =>
    totalOf(computed.map((one) => some({ computed: one }))).computed;
  expect(added(first, undefined, first)).toEqual({ rows: 6, calls: 2, price: 4, seconds: 10 });
  expect(added(first, { rows: 2, calls: 1 })).toEqual({ rows: 5, calls: 2, price: null, seconds: 5 });
  expect(added({ rows: 2, calls: 1 }, { rows: null, calls: null })).toEqual({ rows: null, calls: null });
  expect(added(undefined)).toBeUndefined();
});

const rows = [{ a: 1 }, { a: 2 }];
test.each<[string, Record<string, Size>, Action, Record<string, Size>]>([
  ["a table that is created empty", {}, { kind: "createTable", table: "u", columns: [] } as never, { u: { rows: 0 } }],
  [
    "a table that is created with rows",
    {},
    { kind: "createTable", table: "u", columns: [], rows } as never,
    { u: { rows: 2, rowBytes: 8.5 } },
  ],
  [
    "rows in an empty table",
    { t: { rows: 0 } },
    { kind: "insertRows", table: "t", key: "a", rows },
    { t: { rows: 2, rowBytes: 8.5 } },
  ],
  [
    "rows in a full one",
    { t: { rows: 3, rowBytes: 4 } },
    { kind: "insertRows", table: "t", key: "a", rows },
    { t: { rows: 5, rowBytes: 4 } },
  ],
  ["rows in an unknown one", {}, { kind: "insertRows", table: "t", key: "a", rows }, { t: { rows: undefined } }],
  ["another name", { t: { rows: 3 } }, { kind: "renameTable", table: "t", name: "u" }, { u: { rows: 3 } }],
  ["another name of an unknown one", {}, { kind: "renameTable", table: "t", name: "u" }, {}],
  [
    "a table that is dropped",
    { t: { rows: 3 }, u: { rows: 1 } },
    { kind: "dropTable", table: "t" },
    { u: { rows: 1 } },
  ],
  ["a rename of a column", { t: { rows: 3 } }, rename, { t: { rows: 3 } }],
  [
    "an old version",
    { t: { rows: 3 } },
    { kind: "restoreTable", table: "t", version: 1, after: 2, as: { columns: [] }, isSilent: true },
    { t: { rows: undefined } },
  ],
])("the sizes after %s", (_, sizes, action, expected) => {
  const after = new Map(Object.entries(sizes));
  carrySizes(after, action);
  expect(Object.fromEntries(after)).toEqual(expected);
});
