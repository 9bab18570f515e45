import {
  addColumn,
  createIndex,
  createTable,
  btree,
  dropColumn,
  execute,
  insertRows,
  int32,
  int64,
  renameColumn,
  renameTable,
  retypeColumn,
  setNullable,
  struct,
  utf8,
  type Step,
} from "lance-migrate";
import { expect, test } from "vitest";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import type { LedgerState } from "../../../../src/ledger/state/ledger-state.ts";
import type { LedgerRecord } from "../../../../src/ledger/state/record.ts";
import { checksumOf, stepHash } from "../../../../src/migrations/checksum.ts";
import type { Migration } from "../../../../src/migrations/load.ts";
import { groupMigrations, isGroup, migrationsOfUnit } from "../../../../src/plan/group/group-migrations.ts";
import { makePlan } from "../../../../src/plan/make-plan.ts";

const capabilities = {
  actions: {
    addColumns: true,
    createTable: true,
    alterColumns: true,
    createIndex: true,
    deleteRows: true,
    dropColumns: true,
    dropTable: true,
    insertRows: true,
    renameTable: true,
    restoreTable: true,
    setMetadata: true,
    updateRows: true,
  },
  describes: true,
  fences: true,
} as const;

function aMigration(version: number, steps: readonly Step[]): Migration {
  const file = `000${version}_m.ts`;
  return { version, name: "m", file, path: `/${file}`, textHash: "", steps, checksum: checksumOf(steps) };
}

/** A ledger in which one migration is applied. */
function aLedger({ version, name, steps, checksum }: Migration): LedgerState {
  const who = { at: 0, by: "ann", run: "run", tool: "test", applied: "", previous: "", epoch: 1 };
  const facts = { version, name, step: steps.length, total: steps.length, checksum, steps: steps.map(stepHash) };
  const applied: LedgerRecord = { ...who, number: 1, event: "applied", ...facts, textHash: "", attempt: 1 };
  return foldLedger([{ ...who, number: 0, event: "taken" }, applied, { ...who, number: 2, event: "released" }]);
}

const first = [
  createTable("t", { a: int32(), b: int32(), s: struct({ x: int32() }), n: int32().notNull() }),
  createTable("u", { a: int32() }),
];

/** What runs after a first migration that has made `t` and `u`: versions, and the calls of groups as text. */
function unitsOf(pending: readonly (readonly Step[])[], { stepByStep = false, able = capabilities } = {}) {
  const made = aMigration(1, first);
  const migrations = pending.map((steps, index) => aMigration(index + 2, steps));
  const target = { name: "test", capabilities: able };
  const input = { state: aLedger(made), inDoubt: new Set<number>(), target, ledger: "_migrations" };
  const plan = makePlan({ migrations: [made, ...migrations], pending: migrations, ...input });
  const units = groupMigrations(plan.migrations, { capabilities: able, begun: new Set(), stepByStep });
  return units.map((unit) => {
    const versions = migrationsOfUnit(unit).map(({ migration }) => migration.version);
    return isGroup(unit) ? { versions, calls: unit.calls.map(({ action }) => action.text) } : versions[0];
  });
}

test.each<[what: string, pending: readonly (readonly Step[])[], calls: readonly string[]]>([
  [
    "a chain of renames is one rename",
    [[renameColumn("t", "a", "c")], [renameColumn("t", "c", "d")], [renameColumn("t", "d", "e")]],
    ["rename t.a to e"],
  ],
  [
    "renames and nullability of one table are one call",
    [
      [renameColumn("t", "a", "c"), setNullable("t", "n", true)],
      [renameColumn("t", "s.x", "y"), renameColumn("t", "n", "m")],
    ],
    ["rename t.a to c, rename t.s.x to y, rename t.n to m, make t.n nullable"],
  ],
  [
    "a column inside a renamed struct has its path from before",
    [[renameColumn("t", "s", "r")], [renameColumn("t", "r.x", "y")], [renameColumn("t", "r.y", "z")]],
    ["rename t.s to r, rename t.s.x to z"],
  ],
  [
    "a new table is created as it is in the end",
    [
      [createTable("v", { a: int32() })],
      [retypeColumn("v", "a", int64()), renameColumn("v", "a", "c")],
      [addColumn("v", "d", utf8()), setNullable("v", "c", false)],
    ],
    ["create table v (c int64 not null, d utf8)"],
  ],
  [
    "new columns are added as they are in the end",
    [
      [addColumn("t", "c", int32())],
      [retypeColumn("t", "c", int64())],
      [renameColumn("t", "c", "d"), addColumn("t", "e", utf8())],
    ],
    ["add t.d int64, add t.e utf8"],
  ],
  [
    "each table has one call, in the order in which they come",
    [[renameColumn("u", "a", "c")], [renameColumn("t", "a", "c")], [renameColumn("u", "c", "d")]],
    ["rename u.a to d", "rename t.a to c"],
  ],
  [
    "what ends where it began makes no call",
    [[renameColumn("t", "a", "c")], [renameColumn("t", "c", "a")], [renameColumn("u", "a", "c")]],
    ["rename u.a to c"],
  ],
])("%s", (_, pending, calls) => {
  const versions = pending.map((__, index) => index + 2);
  expect(unitsOf(pending)).toEqual([{ versions, calls }]);
  expect(unitsOf(pending, { stepByStep: true })).toEqual(versions);
});

test.each<[what: string, step: Step]>([
  ["makes a column with rows not null", setNullable("t", "a", false)],
  ["casts a column with rows", retypeColumn("t", "a", int64())],
  ["casts a column without nulls", retypeColumn("t", "n", int64())],
  ["adds a column with values", addColumn("t", "c", int32(), { as: "1" })],
  ["drops a column", dropColumn("t", "b")],
  ["renames a table", renameTable("t", "w")],
  ["creates an index", createIndex("t", "a", btree())],
  ["writes rows", insertRows("u", [{ a: 1 }], { key: "a" })],
  ["deletes rows", execute("u", { delete: "a = 1" })],
])("a migration that %s runs by itself, between groups", (_, step) => {
  const before = [
    [renameColumn("u", "a", "c")],
    [renameColumn("u", "c", "d")],
    [renameColumn("u", "d", "a")],
    [createTable("v", { a: int32() })],
  ];
  const after = [[renameColumn("v", "a", "c")], [renameColumn("v", "c", "d")], [renameColumn("v", "d", "e")]];
  expect(unitsOf([...before, [step], ...after])).toEqual([
    { versions: [2, 3, 4, 5], calls: ["create table v (a int32)"] },
    6,
    { versions: [7, 8, 9], calls: ["rename v.a to e"] },
  ]);
});

test("columns that exchange their names over several migrations do so in one call", () => {
  const swap = [[renameColumn("t", "a", "c")], [renameColumn("t", "b", "a")], [renameColumn("t", "c", "b")]];
  expect(unitsOf(swap)).toEqual([{ versions: [2, 3, 4], calls: ["rename t.a to b, rename t.b to a"] }]);
});

test("a table with two kinds of changes begins another group", () => {
  const pending = [[renameColumn("t", "a", "c")], [renameColumn("t", "c", "d")], [renameColumn("t", "d", "e")]];
  const added = [[addColumn("t", "f", int32())], [renameColumn("t", "f", "g")], [renameColumn("t", "g", "h")]];
  expect(unitsOf([...pending, ...added])).toEqual([
    { versions: [2, 3, 4], calls: ["rename t.a to e"] },
    { versions: [5, 6, 7], calls: ["add t.h int32"] },
  ]);
});

test("what would save nothing runs one by one, and so does all where tables can't be described", () => {
  expect(unitsOf([[renameColumn("t", "a", "c")], [renameColumn("u", "a", "c")]])).toEqual([2, 3]);
  const pending = [[renameColumn("t", "a", "c")], [renameColumn("t", "c", "d")], [renameColumn("t", "d", "e")]];
  expect(unitsOf(pending, { able: { ...capabilities, describes: false } as never })).toEqual([2, 3, 4]);
});
