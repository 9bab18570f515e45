import {
  addColumn,
  addComputedColumn,
  alterColumns,
  createIndex,
  createTable,
  btree,
  dropColumn,
  execute,
  float32,
  float64,
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
import type { Action } from "../../../../src/actions/model/action.ts";
import { foldActions } from "../../../../src/plan/group/fold-actions.ts";
import { callsLeft, groupMigrations, isGroup, migrationsInBatch } from "../../../../src/plan/group/group-migrations.ts";
import { makePlan, type PlannedAction, type PlannedMigration } from "../../../../src/plan/make-plan.ts";
import type { Table } from "../../../../src/schema/table.ts";
import { aLedger, aMigration } from "../../../support/migrations.ts";

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

const first = [
  createTable("t", { a: int32(), b: int32(), s: struct({ x: int32() }), n: int32().notNull() }),
  createTable("u", { a: int32() }),
];

/** Plans migrations that run after a first one, which has made `t` and `u`. */
function planOf(pending: readonly (readonly Step[])[], able = capabilities): readonly PlannedMigration[] {
  const made = aMigration(1, first);
  const migrations = pending.map((steps, index) => aMigration(index + 2, steps));
  const target = { name: "test", capabilities: able };
  const input = { state: aLedger(["applied", made]), inDoubt: new Set<number>(), target, ledger: "_migrations" };
  return makePlan({ migrations: [made, ...migrations], pending: migrations, ...input }).migrations;
}

/** What runs: versions, and the calls of groups as text. `begun`: the versions of the group in doubt. */
function unitsIn(
  migrations: readonly PlannedMigration[],
  { stepByStep = false, able = capabilities, begun = [] as readonly number[] } = {},
) {
  const units = groupMigrations(migrations, { capabilities: able, begun: new Set(begun), stepByStep });
  return units.map((unit) => {
    const versions = migrationsInBatch(unit).map(({ migration }) => migration.version);
    return isGroup(unit) ? { versions, calls: unit.calls.map(({ action }) => action.text) } : versions[0];
  });
}

function unitsOf(pending: readonly (readonly Step[])[], { stepByStep = false, able = capabilities } = {}) {
  return unitsIn(planOf(pending, able), { stepByStep, able });
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
  ["adds a computed column", addComputedColumn("t", "c", int32(), "b")],
  ["alters a column", alterColumns("t", [{ path: "b", nullable: false }])],
  ["drops a column", dropColumn("t", "b")],
  ["renames a table", renameTable("t", "w")],
  ["creates an index", createIndex("t", "a", btree())],
  ["creates a table with rows", createTable("w", { a: int32() }, { rows: [{ a: 1 }] })],
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

test("an action on columns from before and on new ones begins another group", () => {
  const added = [[addColumn("t", "c", int32())], [renameColumn("t", "c", "d")], [renameColumn("t", "d", "e")]];
  const both = alterColumns("t", [
    { path: "a", rename: "x" },
    { path: "e", rename: "f" },
  ]);
  expect(unitsOf([...added, [both]])).toEqual([{ versions: [2, 3, 4], calls: ["add t.e int32"] }, 5]);
});

const renames = [[renameColumn("t", "a", "c")], [renameColumn("t", "c", "d")], [renameColumn("t", "d", "e")]];

test("a new table keeps its schema metadata: its step is the call, or no group has it", () => {
  const create = createTable("v", { a: int32() }, { metadata: { k: "a" } });
  const calls = ["create table v (a int32) with the schema metadata k", "rename t.a to e"];
  expect(unitsOf([[create], ...renames])).toEqual([{ versions: [2, 3, 4, 5], calls }]);
  expect(unitsOf([[create], [renameColumn("v", "a", "c")], [renameColumn("v", "c", "d")]])).toEqual([2, 3, 4]);
});

test("no column is added as not null to a table that may have rows", () => {
  const added = [[addColumn("t", "c", int32())], [renameColumn("t", "c", "d")], [setNullable("t", "d", false)]];
  expect(unitsOf(added)).toEqual([2, 3, 4]);
});

test("no call is made that the target refuses", () => {
  const refuses = (action: Action) => (action.kind === "alterColumns" && action.table === "t" ? "no" : undefined);
  const able = { ...capabilities, refuses } as never;
  expect(unitsIn(planOf(renames), { able })).toEqual([2, 3, 4]);
});

test("no call is made that leaves another table, or gives a column the values of another", () => {
  const columns = ["a", "b", "c"].map((name) => ({ name, type: { kind: "int32" }, nullable: true }) as const);
  const [last] = planOf([[addColumn("t", "c", int32())]])[0]!.actions;
  const fold = (after: Table, moved: Readonly<Record<string, string>>) => {
    const paths = new Map(Object.entries(moved).map(([from, name]) => [from, [name]]));
    const before = { columns: columns.slice(0, 2) };
    const own = { table: "t", before, after, columns: "new", moved: paths, only: undefined, last: last! } as const;
    return foldActions(own, capabilities)?.text;
  };
  expect(fold({ columns }, { a: "a", b: "b" })).toBe("add t.c int32");
  expect(fold({ columns }, { a: "b", b: "a" })).toBeUndefined();
  expect(
    fold({ columns: [{ ...columns[0]!, nullable: false }, ...columns.slice(1)] }, { a: "a", b: "b" }),
  ).toBeUndefined();
});

test.each<[class_: string, able: typeof capabilities]>([
  ["restore", capabilities],
  ["none", { ...capabilities, actions: { ...capabilities.actions, restoreTable: false } } as never],
])("a migration with an action of the rollback class %s is in no group", (of, able) => {
  const lossy = [[addColumn("t", "f", float64())], [retypeColumn("t", "f", float32())], [renameColumn("t", "f", "g")]];
  const [, planned] = planOf(lossy, able);
  expect(planned!.actions[0]!.rollback!.class).toBe(of);
  expect(unitsOf(lossy, { able })).toEqual([2, 3, 4]);
});

const refusal = { reason: "failure", problem: "no" } as const;

test.each<[what: string, change: (planned: PlannedMigration) => Partial<PlannedMigration>]>([
  ["is rolled back", () => ({ direction: "down" })],
  ["is half-done", () => ({ done: 1 })],
  ["is between two commits of an action", () => ({ midway: { step: "", commit: 1, indexes: {}, metadata: {} } })],
  ["is in doubt", () => ({ inDoubt: true })],
  ["may not run", ({ actions }) => ({ actions: actions.map((action) => ({ ...action, refusal })) })],
])("a migration that %s is in no group", (_, change) => {
  const [one, ...others] = planOf([...renames, [renameColumn("t", "e", "f")]]);
  const units = unitsIn([{ ...one!, ...change(one!) }, ...others]);
  expect(units).toEqual([2, { versions: [3, 4, 5], calls: ["rename t.c to f"] }]);
});

const begun = [3, 5];

test("a group in doubt keeps its members and its calls, and runs where its first member comes", () => {
  const steps = [
    [renameColumn("u", "a", "c")],
    [renameColumn("t", "a", "c")],
    [renameColumn("u", "c", "d")],
    [renameColumn("t", "c", "d"), createTable("v", { a: int32() })],
    [renameColumn("u", "d", "e")],
  ];
  // The call on `t` was made.
  const isLeft = ({ action }: PlannedAction) => action.table !== "t";
  const migrations = planOf(steps).map((planned) =>
    begun.includes(planned.migration.version)
      ? { ...planned, actions: planned.actions.filter(isLeft), whole: planned.actions }
      : planned,
  );
  const calls = ["rename t.a to d", "create table v (a int32)"];
  expect(unitsIn(migrations, { begun, stepByStep: true })).toEqual([2, { versions: begun, calls }, 4, 6]);
  const group = groupMigrations(migrations, { capabilities, begun: new Set(begun), stepByStep: true }).find(isGroup);
  expect(callsLeft(group!).map(({ text }) => text)).toEqual(calls.slice(1));
});

test("a group in doubt whose members can't run as one any more is refused", () => {
  const changed = planOf([[], [renameColumn("t", "a", "c")], [], [dropColumn("t", "b")]]);
  expect(() => unitsIn(changed, { begun })).toThrow(
    expect.objectContaining({ code: "ERR_GROUP_CHANGED", details: { from: "0003_m3", until: "0005_m5" } }),
  );
});

test("what would save nothing runs one by one, and so does all where tables can't be described", () => {
  expect(unitsOf([[renameColumn("t", "a", "c")], [renameColumn("u", "a", "c")]])).toEqual([2, 3]);
  const pending = [[renameColumn("t", "a", "c")], [renameColumn("t", "c", "d")], [renameColumn("t", "d", "e")]];
  expect(unitsOf(pending, { able: { ...capabilities, describes: false } as never })).toEqual([2, 3, 4]);
});
