import {
  addColumn,
  alterColumns,
  createTable,
  int32,
  int64,
  isMigrateError,
  largeUtf8,
  renameColumn,
  retypeColumn,
  createIndex,
  execute,
  ivfFlat,
  setMetadata,
  setNullable,
  struct,
  btree,
  utf8,
  vector,
  type Step,
} from "lance-migrate";
import { expect, test } from "vitest";
import { foldLedger } from "../../../src/ledger/state/fold.ts";
import type { LedgerState } from "../../../src/ledger/state/ledger-state.ts";
import type { Migration } from "../../../src/migrations/load.ts";
import { replayHistory } from "../../../src/plan/history/replay.ts";
import { makePlan, type Plan, type PlanInput } from "../../../src/plan/make-plan.ts";
import type { Database } from "../../../src/schema/table.ts";
import { aLedger, aMigration } from "../../support/migrations.ts";

const everything = {
  addColumns: true,
  createTable: true,
  alterColumns: true,
  createIndex: true,
  deleteRows: true,
  dropColumns: true,
  setMetadata: true,
} as const;
const able = { name: "local", capabilities: { actions: everything, describes: true, fences: true } };
const blind = { name: "blind", capabilities: { actions: everything, describes: false, fences: true } };

function planOf(pending: readonly Migration[], more: Partial<PlanInput> & { readonly state?: LedgerState } = {}): Plan {
  const state = more.state ?? foldLedger([]);
  return makePlan({
    migrations: pending,
    pending,
    state,
    inDoubt: state.inDoubt,
    target: able,
    ledger: "_migrations",
    ...more,
  });
}

const create = createTable("documents", { id: int32(), title: utf8() });
const documents = { columns: [column("id", "int32"), column("title", "utf8")] };

function column(name: string, kind: "int32" | "int64" | "utf8", nullable = true) {
  return { name, type: { kind }, nullable };
}

/** Column names by table. */
const names = (database: Database) =>
  Object.fromEntries([...database].map(([name, { columns }]) => [name, columns.map((one) => one.name)]));

const firsts = ({ migrations }: Plan) => migrations.flatMap(({ actions }) => actions.map((one) => one.recordFirst));

test("each action knows its table before and after, its place, and itself in words", () => {
  const { migrations, now } = planOf([aMigration(1, [create, renameColumn("documents", "title", "headline")])]);
  const renamed = { columns: [column("id", "int32"), column("headline", "utf8")] };
  expect(now).toEqual(new Map());
  expect(migrations).toMatchObject([{ done: 0, total: 2, inDoubt: false, attempt: 1 }]);
  expect(migrations[0]!.actions).toEqual([
    {
      place: { file: "0001_m1.ts", step: 1, kind: "createTable" },
      action: { kind: "createTable", table: "documents", columns: documents.columns },
      text: "create table documents (id int32, title utf8)",
      risks: [],
      rollback: expect.objectContaining({ class: "none", reason: "the target has no call for dropTable" }),
      commits: [expect.objectContaining({ text: "create table documents (id int32, title utf8)" })],
      before: new Map([["documents", undefined]]),
      after: new Map([["documents", documents]]),
      recordFirst: false,
    },
    {
      place: { file: "0001_m1.ts", step: 2, kind: "renameColumn" },
      action: { kind: "alterColumns", table: "documents", alterations: [{ path: "title", rename: "headline" }] },
      text: "rename documents.title to headline",
      risks: [],
      rollback: expect.objectContaining({ class: "exact", text: "rename documents.headline to title" }),
      commits: [expect.objectContaining({ text: "rename documents.title to headline" })],
      before: new Map([["documents", documents]]),
      after: new Map([["documents", renamed]]),
      recordFirst: false,
    },
  ]);
});

test("a step that can't work is named, also if its file exports how it is rolled back", () => {
  const steps = [create, renameColumn("documents", "headline", "title")] as const;
  const down = [renameColumn("documents", "title", "headline")];
  const problem = (migration: Migration) => thrownBy(() => planOf([migration]));
  const named = { code: "ERR_STEP_IMPOSSIBLE", details: { file: "0001_m1.ts", step: 2, kind: "renameColumn" } };
  expect(problem(aMigration(1, steps))).toMatchObject(named);
  expect(problem({ ...aMigration(1, steps), down })).toMatchObject(named);
});

test("a migration is planned on top of those before it", () => {
  const [first, second] = [aMigration(1, [create]), aMigration(2, [retypeColumn("documents", "id", int64())])];
  expect(planOf([first, second]).migrations[1]!.actions).toMatchObject([
    {
      before: new Map([["documents", documents]]),
      after: new Map([["documents", { columns: [column("id", "int64"), column("title", "utf8")] }]]),
    },
  ]);
});

test("what is applied is the database as it is now, and nothing of it is planned", () => {
  const [first, second] = [aMigration(1, [create]), aMigration(2, [renameColumn("documents", "title", "headline")])];
  const plan = planOf([second], { migrations: [first, second], state: aLedger(["applied", first]) });
  expect(plan.now).toEqual(new Map([["documents", documents]]));
  expect(plan.migrations.map(({ migration, total }) => [migration.version, total])).toEqual([[2, 1]]);
});

test("a migration that is done in part goes on at the step where it stopped, as another attempt", () => {
  const migration = aMigration(1, [
    create,
    renameColumn("documents", "title", "headline"),
    setNullable("documents", "headline", false),
  ]);
  const plan = planOf([migration], { state: aLedger(["failed", migration, 2]) });
  expect(plan.migrations).toMatchObject([
    { done: 2, total: 3, attempt: 2, actions: [{ place: { step: 3, kind: "setNullable" } }] },
  ]);
  expect(names(plan.now)).toEqual({ documents: ["id", "headline"] });
});

test("what may have run without being recorded is marked", () => {
  const [first, second] = [aMigration(1, [create]), aMigration(2, [renameColumn("documents", "title", "headline")])];
  const { migrations } = planOf([first, second], { inDoubt: new Set([2]) });
  expect(migrations.map(({ inDoubt }) => inDoubt)).toEqual([false, true]);
});

test.each([
  {
    what: "a column that is not there",
    step: renameColumn("documents", "tilte", "headline"),
    cause: "ERR_COLUMN_MISSING",
    kind: "renameColumn",
  },
  { what: "a table that is there", step: create, cause: "ERR_TABLE_EXISTS", kind: "createTable" },
  {
    what: "a cast that the engine refuses",
    step: retypeColumn("documents", "title", int64()),
    cause: "ERR_CAST_REFUSED",
    kind: "retypeColumn",
  },
  {
    what: "no effect",
    step: setNullable("documents", "title", true),
    cause: "ERR_NO_EFFECT",
    kind: "setNullable",
  },
])("a step with $what is refused with its file, number and kind", ({ step, cause, kind }) => {
  const error = thrownBy(() =>
    planOf([aMigration(1, [create]), aMigration(2, [setNullable("documents", "id", false), step])]),
  );
  expect(error).toMatchObject({ code: "ERR_STEP_IMPOSSIBLE", details: { file: "0002_m2.ts", step: 2, kind } });
  expect((error as Error).cause).toMatchObject({ code: cause });
});

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

test.each([
  { table: "_migrations", allowed: false },
  { table: "_migrations.e7", allowed: false },
  { table: "_migrations.e7.1.applied.0003", allowed: false },
  { table: "_migrations2", allowed: true },
  { table: "my_migrations", allowed: true },
  { table: "migrations", allowed: true },
])("a migration may create $table: $allowed", ({ table, allowed }) => {
  const error = thrownBy(() => planOf([aMigration(1, [createTable(table, { id: int32() })])]));
  expect(isMigrateError(error, "ERR_STEP_IMPOSSIBLE")).toBe(!allowed);
  if (!allowed)
    expect(error).toMatchObject({
      details: { file: expect.any(String), step: 1, problem: `table ${table} is the ledger's` },
    });
});

test("a step that the target can't do is refused with the target's reason, before any other doubt about it", () => {
  const capabilities = {
    actions: { createTable: true, alterColumns: "it has no way to alter" },
    describes: true,
    fences: true,
  } as const;
  const migration = aMigration(1, [create, renameColumn("documents", "title", "headline")]);
  expect(thrownBy(() => planOf([migration], { target: { name: "far", capabilities } }))).toMatchObject({
    code: "ERR_UNSUPPORTED",
    details: { target: "far", reason: "it has no way to alter", file: "0001_m1.ts", step: 2, kind: "renameColumn" },
  });
});

test("a retype after which an index could not be made again is refused with its place", () => {
  const migration = aMigration(1, [
    createTable("documents", { place: struct({ page: int32() }) }),
    createIndex("documents", "place.page", btree()),
    retypeColumn("documents", "place", int32(), { using: "place.page" }),
  ]);
  const able = {
    createTable: true,
    alterColumns: true,
    createIndex: true,
    addColumns: true,
    dropColumns: true,
  } as const;
  const target = { name: "local", capabilities: { actions: able, describes: true, fences: true } };
  expect(thrownBy(() => planOf([migration], { target }))).toMatchObject({
    code: "ERR_STEP_IMPOSSIBLE",
    details: { file: "0001_m1.ts", step: 3 },
  });
});

test("what is applied may need what the target can't do any more", () => {
  const capabilities = { actions: { createTable: "no", alterColumns: true }, describes: true, fences: true } as const;
  const [first, second] = [aMigration(1, [create]), aMigration(2, [renameColumn("documents", "title", "headline")])];
  const given = {
    migrations: [first, second],
    state: aLedger(["applied", first]),
    target: { name: "far", capabilities },
  };
  expect(() => planOf([second], given)).not.toThrow();
});

const to = renameColumn("documents", "title", "headline");
const fro = renameColumn("documents", "headline", "title");
const wide = retypeColumn("documents", "id", int64());
const narrow = retypeColumn("documents", "id", int32());
const swap = alterColumns("documents", [
  { path: "id", rename: "title" },
  { path: "title", rename: "id" },
]);

test.each<{ what: string; steps: readonly Step[]; recordFirst: readonly boolean[] }>([
  { what: "renames there and back", steps: [to, fro], recordFirst: [false, true] },
  { what: "retypes there and back", steps: [wide, narrow], recordFirst: [false, true] },
  { what: "swaps twice", steps: [swap, swap], recordFirst: [false, true] },
  {
    what: "sets what nobody knows the value of, and sets it again",
    steps: ["1", "2"].map((value) => setMetadata("documents", "title", { version: value })),
    recordFirst: [false, true],
  },
  {
    what: "makes two indexes on a table of whose indexes nobody knows",
    steps: ["id", "title"].map((path) => createIndex("documents", path, btree())),
    recordFirst: [false, true],
  },
  {
    what: "changes rows before something else",
    steps: [execute("documents", { delete: "id = 1" }), createTable("authors", { id: int32() })],
    recordFirst: [false, true],
  },
  {
    what: "comes to where an action of several commits was between two of them",
    steps: [addColumn("documents", "rank", int32().notNull(), { as: "id" }), setNullable("documents", "rank", true)],
    recordFirst: [false, true],
  },
  {
    what: "retypes twice, with the same guard",
    steps: [wide, retypeColumn("documents", "title", largeUtf8())],
    recordFirst: [false, true],
  },
  { what: "never comes by a state again", steps: [to, wide], recordFirst: [false, false] },
  { what: "goes back over two steps", steps: [to, wide, fro, narrow], recordFirst: [false, false, false, true] },
  {
    what: "goes there and back three times",
    steps: [to, fro, to, fro, to, fro],
    recordFirst: [false, true, true, true, true, true],
  },
  { what: "goes back and then elsewhere", steps: [to, fro, wide], recordFirst: [false, true, false] },
  {
    what: "comes by a state from before a record",
    steps: [to, fro, wide, narrow],
    recordFirst: [false, true, false, true],
  },
  {
    what: "goes back while another table moves on",
    steps: [to, createTable("other", { id: int32() }), fro],
    recordFirst: [false, false, false],
  },
])("a migration that $what is recorded before these actions: $recordFirst", ({ steps, recordFirst }) => {
  const [first, second] = [aMigration(1, [create]), aMigration(2, steps)];
  expect(firsts(planOf([second], { migrations: [first, second], state: aLedger(["applied", first]) }))).toEqual(
    recordFirst,
  );
});

test("a migration that returns to where the one before it began needs no record of its own", () => {
  const [first, second, third] = [aMigration(1, [create]), aMigration(2, [to]), aMigration(3, [fro])];
  const given = { migrations: [first, second, third], state: aLedger(["applied", first]) };
  expect(firsts(planOf([second, third], given))).toEqual([false, false]);
});

test("a target that can't describe has every action recorded but the first of a migration", () => {
  const [first, second] = [aMigration(1, [create, to, wide]), aMigration(2, [fro, narrow])];
  expect(firsts(planOf([first, second], { target: blind }))).toEqual([false, true, true, false, true]);
});

test("a migration that goes on has its first action recorded by what is recorded already", () => {
  const [first, second] = [aMigration(1, [create]), aMigration(2, [to, fro, wide])];
  const given = { migrations: [first, second], state: aLedger(["applied", first], ["failed", second, 1]) };
  expect(firsts(planOf([second], given))).toEqual([false, false]);
});

test("the database is folded in the order in which migrations ran", () => {
  const first = aMigration(1, [create]);
  const [second, third] = [aMigration(2, [to]), aMigration(3, [renameColumn("documents", "title", "name")])];
  const fourth = aMigration(4, [renameColumn("documents", "name", "title")]);
  const all = [first, second, third, fourth];
  // 2 could not have run before 3 and 4, which ran first, out of order.
  expect(
    names(
      replayHistory(all, aLedger(["applied", first], ["applied", third], ["applied", fourth], ["applied", second]), {
        describes: true,
        actions: {},
      }),
    ),
  ).toEqual({
    documents: ["id", "headline"],
  });
});

test("only what is done of a migration that is done in part is folded", () => {
  const migration = aMigration(1, [create, to, wide]);
  const folded = [0, 1, 2, 3].map((done) =>
    names(
      replayHistory([migration], aLedger(["failed", migration, done]), {
        describes: true,
        actions: {},
      }),
    ),
  );
  expect(folded).toEqual([
    {},
    { documents: ["id", "title"] },
    { documents: ["id", "headline"] },
    { documents: ["id", "headline"] },
  ]);
});

test.each([
  ["of a new table", createTable("other", { _lance_migrate_guard: int32() })],
  ["of a new column", addColumn("documents", "_lance_migrate_new", int32())],
  ["of a renamed one", renameColumn("documents", "title", "_lance_migrate_hidden_0")],
])("a name that columns have for a moment while others are rewritten can't be that %s", (_, step) => {
  expect(() => planOf([aMigration(1, [create, step])])).toThrow(/step 2 .*no column can be called _lance_migrate_/);
});

test("a metadata key by which the engine reads files is refused, and may be removed on the way back", () => {
  const pack = (value: string | null) => aMigration(2, [setMetadata("documents", "title", { packed: value })]);
  for (const value of ["true", null])
    expect(() => planOf([aMigration(1, [create]), pack(value)])).toThrow(
      "0002_m2.ts, step 1 (setMetadata): the engine reads a column's files by the metadata key packed",
    );
  const [first, second] = [aMigration(1, [create]), pack("true")];
  const state = aLedger(["applied", first], ["applied", second]);
  const more = { migrations: [first, second], state, direction: "down" } as const;
  expect(planOf([second], more).migrations[0]!.actions[0]!.action).toEqual({
    kind: "setMetadata",
    table: "documents",
    updates: [{ path: "title", metadata: { packed: null } }],
  });
});

test("a vector index is planned on a table that its own migration creates", () => {
  const migration = aMigration(1, [createTable("d", { id: int32(), v: vector(4) }), createIndex("d", "v", ivfFlat())]);
  const kinds = planOf([migration]).migrations[0]!.actions.map(({ action }) => action.kind);
  expect(kinds).toEqual(["createTable", "createIndex"]);
});

test("a migration can't set the mark of a deferred index", () => {
  const create = createTable("d", { v: vector(4) });
  const migration = aMigration(1, [create, setMetadata("d", "v", { "lance_migrate_deferred.v_idx": "{}" })]);
  expect(() => planOf([migration])).toThrow("belongs to lance-migrate; leave it out");
});
