import { btree } from "lance-migrate";
import { expect, test } from "vitest";
import { afterLateCall, inTheMiddle } from "../../../../src/plan/commits/after-late-call.ts";
import type { Action } from "../../../../src/actions/model/action.ts";
import { columnsOf, int32, utf8 } from "../../../../src/schema/declare/type-builders.ts";
import { differences, type Table } from "../../../../src/schema/table.ts";

const [a, b] = columnsOf({ a: int32(), b: utf8() });
const index = { path: "a", ...btree() };
const table: Table = { columns: [a!, b!] };
const found = (more: Partial<Table> = {}): Table => ({ columns: [a!, b!], indexes: {}, ...more });
const setUnit: Action = { kind: "setMetadata", table: "t", updates: [{ path: "a", metadata: { unit: "EUR" } }] };
const makeIndex: Action = { kind: "createIndex", table: "t", name: "i", index };
const retype: Action = { kind: "alterColumns", table: "t", alterations: [{ path: "a", type: { kind: "int64" } }] };
const midway = { step: "", commit: 0, indexes: { theirs: index }, metadata: { a: { unit: "EUR" } } };
const wrong = (action: Action, seen: Table, since: readonly Action[] = []) =>
  differences(afterLateCall(table, action, action === retype ? midway : undefined, since), seen);

test("metadata that a late call gave to a column of which migrations know none is found", () => {
  expect(wrong(setUnit, found())).toEqual([]);
  expect(wrong(setUnit, found({ columns: [{ ...a!, metadata: { unit: "EUR" } }, b!] }))).toEqual([
    'unit of column a is "EUR" instead of not set',
  ]);
  expect(wrong(setUnit, found({ columns: [{ ...a!, metadata: { theirs: "1" } }, b!] }))).toEqual([]);
});

test("so is an index that it made", () => {
  expect(wrong(makeIndex, found())).toEqual([]);
  expect(wrong(makeIndex, found({ indexes: { i: index } }))).toEqual(["index i exists, but should not"]);
});

test("an index of others by the name of one that a late call dropped is theirs", () => {
  expect(wrong({ kind: "dropIndex", table: "t", name: "i" }, found({ indexes: { i: index } }))).toEqual([]);
});

test("what migrations know stays as it is", () => {
  const known: Table = { columns: [{ ...a!, metadata: { unit: "USD" } }, b!], indexes: { i: index } };
  expect(afterLateCall(known, setUnit, undefined, []).columns).toEqual(known.columns);
  expect(afterLateCall(known, makeIndex, undefined, []).indexes).toEqual(known.indexes);
});

test("an application's index and metadata that a late call lost are missed", () => {
  const whole = found({ columns: [{ ...a!, metadata: { unit: "EUR" } }, b!], indexes: { theirs: index } });
  expect(wrong(retype, whole)).toEqual([]);
  expect(wrong(retype, found())).toEqual([
    'unit of column a is not set instead of "EUR"',
    "index theirs on a is missing: btree",
  ]);
});

test.each([
  ["made anew", { kind: "createTable", table: "t", columns: [a!, b!] }],
  ["renamed to", { kind: "renameTable", table: "s", name: "t" }],
] satisfies readonly (readonly [string, Action])[])("not of a table that was %s since", (_, since) => {
  expect(wrong(retype, found(), [since])).toEqual([]);
  expect(wrong(retype, found({ indexes: { theirs: index } }), [since])).toEqual([
    "index theirs exists, but should not",
  ]);
});

test("nor of a column that is gone", () => {
  expect(differences(afterLateCall({ columns: [b!] }, retype, midway, []), { columns: [b!], indexes: {} })).toEqual([]);
});

const convert: Action = { kind: "convertColumn", table: "t", path: "b", type: { kind: "utf8" }, using: "b" };
const unit = { ...a!, metadata: { unit: "EUR" } };

test("in the middle of an action what it lets be is as before", () => {
  const before: Table = { columns: [unit, b!], indexes: { i: index, late: null } };
  const middle: Table = { columns: [a!, b!], indexes: {} };
  const wrong = (seen: Table) => differences(inTheMiddle(middle, before, convert, before), seen);
  expect(wrong({ columns: [unit, b!], indexes: { i: index } })).toEqual([]);
  expect(wrong({ columns: [unit, b!], indexes: {} })).toEqual(["index i on a is missing: btree"]);
  expect(wrong({ columns: [a!, b!], indexes: { i: index, late: index } })).toEqual([
    'unit of column a is not set instead of "EUR"',
    "index late exists, but should not",
  ]);
});

test("what it rewrites, drops or moves may be otherwise", () => {
  const onB = { ...index, path: "b" };
  const before: Table = { columns: [a!, { ...b!, metadata: { unit: "EUR" } }], indexes: { own: onB, moved: index } };
  const after: Table = { columns: [b!, a!], indexes: { own: onB, moved: { ...index, path: "c" } } };
  const middle: Table = { columns: [a!, b!], indexes: {} };
  expect(differences(inTheMiddle(middle, before, convert, after), middle)).toEqual([]);
});

test("a table without indexes has none in the middle of an action", () => {
  const [a, b] = [{ columns: columnsOf({ a: int32() }) }, { columns: columnsOf({ b: int32() }) }];
  const rename = { kind: "alterColumns", table: "t", alterations: [{ path: "a", rename: "b" }] } as const;
  expect(inTheMiddle(b, a, rename, b)).toEqual({ ...b, indexes: {} });
});
