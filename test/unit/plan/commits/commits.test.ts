import { expect, test } from "vitest";
import { commitPosition, leadsBack, planCommits, statesBetween } from "../../../../src/plan/commits/commits.ts";
import type { Action, ActionKind } from "../../../../src/actions/model/action.ts";
import { columnsOf, int32 } from "../../../../src/schema/declare/type-builders.ts";
import { btree } from "../../../../src/schema/declare/index-builders.ts";
import { sameTables, type Table, type Tables } from "../../../../src/schema/table.ts";

const kinds: readonly ActionKind[] = [
  "addColumns",
  "alterColumns",
  "createIndex",
  "dropColumns",
  "dropIndex",
  "setMetadata",
];
const capabilities = { actions: Object.fromEntries(kinds.map((kind) => [kind, true as const])), describes: true };
const [id] = columnsOf({ id: int32() });
const bare: Table = { columns: [id!] };
const table: Table = { columns: [{ ...id!, metadata: { unit: "EUR" } }], indexes: { i: { path: "id", ...btree() } } };
const retype: Action = { kind: "alterColumns", table: "t", alterations: [{ path: "id", type: { kind: "int64" } }] };
const convert: Action = { kind: "convertColumn", table: "t", path: "id", type: { kind: "int32" }, using: "id + 1" };
const at = (one: Table): Tables => new Map([["t", one]]);
const plan = (action: Action, before: Table) => planCommits(action, at(before), capabilities);

test("each commit begins with what the one before leaves, and tells of indexes and metadata just what it does to them", () => {
  const commits = plan(retype, table);
  expect(commits.map(({ text }) => text)).toEqual([
    "drop index i of t",
    "add t._lance_migrate_guard int8 not null as 1",
    "retype t.id to int64",
    'set unit of t.id to "EUR"',
    "drop t._lance_migrate_guard",
    "create index i on t.id: btree",
  ]);
  for (const [index, { before }] of commits.slice(1).entries())
    expect(sameTables(before, commits[index]!.after)).toBe(true);
  const indexes = commits.map(({ before, after }) => [before, after].map((tables) => tables.get("t")!.indexes));
  const [there, gone] = [table.indexes, { i: null }];
  expect(indexes).toEqual([[there, gone], ...Array.from({ length: 4 }, () => [{}, {}]), [{}, there]]);
  const metadata = commits.map(({ after }) => after.get("t")!.columns[0]!.metadata);
  expect(metadata).toEqual(commits.map((_, index) => (index === 3 ? { unit: "EUR" } : undefined)));
});

test("an action of several commits may be found after its last one too", () => {
  const commits = plan(retype, table);
  const found = statesBetween(commits).map((tables) => tables.get("t")!);
  expect(found.at(-1)!.columns).toEqual([{ ...id!, type: { kind: "int64" } }]);
  expect(found.at(-1)!.indexes).toEqual(table.indexes);
  expect(statesBetween(plan({ kind: "dropIndex", table: "t", name: "i" }, table))).toEqual([]);
});

test("where nobody can look, an action is one commit", () => {
  const commits = planCommits(retype, at(table), { ...capabilities, describes: false });
  expect(commits.map(({ action }) => action)).toEqual([retype]);
});

const after = (done: number, detour = 0) => ({ done, detour });

test("how many are done is found by what the table is like", () => {
  const commits = plan(retype, table);
  expect(commitPosition(commits, at(table))).toEqual(after(0));
  for (const [index, commit] of commits.slice(0, -1).entries())
    expect(commitPosition(commits, commit.after)).toEqual(after(index + 1));
  expect(commitPosition(commits, commits.at(-1)!.after)).toEqual(after(commits.length));
  expect(commitPosition(commits, at({ columns: columnsOf({ other: int32() }) }))).toBeUndefined();
});

test.each([
  ["a nullable column", retype, table, 1],
  ["a column that is not null", retype, { columns: columnsOf({ id: int32().notNull() }) }, 0],
  ["a column recreated", convert, table, 0],
])("%s: each place of a detour is known, and it ends where its commit does", (_, action, before, turning) => {
  const commits = plan(action, before);
  const { detour, after: end } = commits[turning]!;
  expect(commits.filter((one) => one.detour.length > 0)).toEqual([commits[turning]]);
  expect(detour.at(-1)!.after).toEqual(end);
  expect(commitPosition(commits, end)).toEqual(after(turning + 1));
  for (const [index, one] of detour.slice(0, -1).entries())
    expect(commitPosition(commits, one.after)).toEqual(after(turning, index + 1));
});

test("a conversion to its own type leads back to how the table was, past which only the ledger knows", () => {
  const commits = plan(convert, bare);
  const last = commits.length - 1;
  expect(commits.map((_, index) => leadsBack(commits, index))).toEqual(commits.map((_, index) => index === last));
  expect(commitPosition(commits, at(bare))).toEqual(after(0));
  expect(commitPosition(commits, at(bare), last)).toEqual(after(commits.length));
});

test("an index that others make again meanwhile is no place of its own", () => {
  const commits = plan(retype, table);
  const guarded = commits[1]!.after.get("t")!;
  expect(commitPosition(commits, at({ ...guarded, indexes: table.indexes! }))).toEqual(after(2));
});
