import {
  addColumn,
  createTable,
  dropColumn,
  float32,
  float64,
  int32,
  int64,
  list,
  renameColumn,
  renameTable,
  retypeColumn,
  setNullable,
  utf8,
  type Step,
} from "lance-migrate";
import { expect, test } from "vitest";
import type { LedgerState } from "../../../../src/ledger/state/ledger-state.ts";
import type { LedgerMigration } from "../../../../src/ledger/state/fold-migration.ts";
import { checksumOf, stepHash } from "../../../../src/migrations/checksum.ts";
import { downRun } from "../../../../src/plan/history/migration-run.ts";
import { replayHistory } from "../../../../src/plan/history/replay.ts";
import { questionsOf } from "../../../../src/plan/assess/blocking-rows.ts";
import { makePlan } from "../../../../src/plan/make-plan.ts";
import { rollbackOf } from "../../../../src/plan/rollback/rollback.ts";
import { columnsOf } from "../../../../src/schema/declare/type-builders.ts";
import { abilitiesOf } from "../../../simulate/target/memory-target.ts";
import { aMigration } from "../../../simulate/history.ts";

const embedded = abilitiesOf("embedded");
const table = { columns: columnsOf({ id: int32().notNull(), title: utf8() }) };
const before = new Map([["t", table]]);
const steps = [
  renameColumn("t", "title", "headline"),
  retypeColumn("t", "id", int64()),
  setNullable("t", "id", true),
  addColumn("t", "note", utf8()),
] satisfies readonly Step[];
const migration = aMigration(2, steps);

const wordsOf = (done: number) => {
  const { actions, blockers } = rollbackOf(migration, done, before, embedded);
  return [
    actions.map(({ place, action }) => `${place.step} ${action.kind}`),
    blockers.map(({ at, blocker }) => `${at} ${blocker.kind}`),
  ];
};

test("steps are rolled back from the last to the first", () => {
  expect(wordsOf(4)).toEqual([
    ["4 dropColumns", "3 alterColumns", "2 alterColumns", "1 alterColumns"],
    ["0 values", "1 null", "2 cast"],
  ]);
});

test("of what stopped half-way that is rolled back which had run", () => {
  expect(wordsOf(2)).toEqual([["2 alterColumns", "1 alterColumns"], ["0 cast"]]);
});

const rename = [renameColumn("t", "title", "headline")];
const dropping = { ...aMigration(2, [dropColumn("t", "title")]), down: [addColumn("t", "title", utf8())] };

test("what the file says is done instead of what follows from the steps", () => {
  const { actions, blockers } = rollbackOf(dropping, 1, before, embedded);
  expect(actions).toMatchObject([
    { place: { step: 1, of: "down", kind: "addColumn" }, action: { kind: "addColumns" } },
  ]);
  expect(blockers).toEqual([]);
});

test("what the file says has to lead to the tables that were there before", () => {
  const wrong = { ...aMigration(2, rename), down: [renameColumn("t", "headline", "name")] };
  expect(() => rollbackOf(wrong, 1, before, embedded)).toThrow(
    /^0002_drawn.ts, step 1 of down \(renameColumn\) can't be rolled back: that does not lead to the tables before it: t: .*title/,
  );
  const impossible = { ...aMigration(2, rename), down: [renameColumn("t", "absent", "name")] };
  expect(() => rollbackOf(impossible, 1, before, embedded)).toThrow(
    "step 1 of down (renameColumn) can't be rolled back",
  );
});

test("of what stopped half-way the file does not say how it is rolled back", () => {
  const half = { ...aMigration(2, [...rename, retypeColumn("t", "id", int64())]), down: [dropColumn("t", "id")] };
  expect(rollbackOf(half, 1, before, embedded).actions).toMatchObject([{ place: { step: 1, kind: "renameColumn" } }]);
});

const first = aMigration(1, [createTable("t", { id: int32().notNull(), title: utf8() })]);

function aState(reversal?: LedgerMigration["reversal"]): LedgerState {
  const known = ({ version, name, steps: all, checksum }: typeof first, order: number): LedgerMigration => ({
    version,
    name,
    checksum,
    order,
    status: "applied",
    step: all.length,
    total: all.length,
    steps: [],
    textHash: "",
    attempt: 1,
    duration: 0,
    tables: {},
    at: 0,
    by: "ann",
  });
  const migrations = new Map([
    [1, known(first, 1)],
    [2, { ...known(migration, 2), reversal }],
  ]);
  const nothing = {
    head: undefined,
    lastStatement: undefined,
    holder: undefined,
    inDoubt: new Set<number>(),
    group: new Set<number>(),
    late: [],
    deferral: undefined,
  };
  return { ...nothing, epoch: 1, migrations };
}

/** As far as these of the actions that roll it back. */
function aReversal(step: number) {
  const begun = rollbackOf(migration, 4, before, embedded)
    .actions.slice(0, step)
    .map(({ action }) => action);
  return { step, total: 4, checksum: checksumOf(begun), steps: begun.map(stepHash), attempt: 1, tables: {} };
}

test("the database is as far back as the ledger records", () => {
  const names = (step: number) =>
    replayHistory([first, migration], aState(aReversal(step)), embedded)
      .get("t")!
      .columns.map(({ name, type, nullable }) => `${name} ${type.kind} ${nullable}`);
  expect([0, 1, 3, 4].map(names)).toEqual([
    ["id int64 true", "headline utf8 true", "note utf8 true"],
    ["id int64 true", "headline utf8 true"],
    ["id int32 false", "headline utf8 true"],
    ["id int32 false", "title utf8 true"],
  ]);
});

test("a release that would roll it back by other actions does not continue those of another one", () => {
  const other = { ...aReversal(2), checksum: checksumOf(["another"]) };
  expect(downRun(migration, before, aState(aReversal(2)), embedded)()).toMatchObject({ done: 2, attempt: 2 });
  expect(downRun(migration, before, aState(other), embedded)).toThrow("is being rolled back, and by other actions");
});

test("what the file has to say itself and says no more is another way back only once that has begun", () => {
  const untold = { ...migration, steps: dropping.steps, checksum: dropping.checksum };
  const blind = { describes: true, actions: {} };
  expect(downRun(untold, before, aState(aReversal(0)), blind)).toThrow(
    expect.objectContaining({ code: "ERR_IRREVERSIBLE" }),
  );
  expect(downRun(untold, before, aState(aReversal(1)), blind)).toThrow(
    expect.objectContaining({ code: "ERR_ROLLBACK_CHANGED" }),
  );
});

const planBack = (pending: readonly (typeof first)[], state = aState()) =>
  makePlan({
    migrations: [first, migration],
    pending,
    direction: "down",
    state,
    inDoubt: new Set(),
    target: { name: "local", capabilities: embedded },
    ledger: "_migrations",
  });

const asked = (...input: Parameters<typeof planBack>) =>
  questionsOf(planBack(...input)).rows.map(({ asks, allowed, mayLose }) => [
    asks.map(({ table: name, predicate }) => `${name}: ${predicate ?? "all"}`),
    allowed,
    mayLose,
  ]);
const comesBack = (sql: string, now: string, was: string) => {
  const back = `arrow_try_cast(arrow_try_cast(${sql}, '${was}'), '${now}')`;
  return `${sql} IS NOT NULL AND (${back} IS NULL OR ${back} <> ${sql})`;
};

test("rows are asked for by the names and types that columns have before anything is changed", () => {
  expect(asked([migration, first])).toEqual([
    [["t: `note` IS NOT NULL"], 0, true],
    [["t: `id` IS NULL"], 0, false],
    [[`t: ${comesBack("`id`", "Int64", "Int32")}`], 0, false],
    [["t: all"], 0, true],
  ]);
});

test("what is rolled back already is not asked for", () => {
  expect(asked([migration], aState(aReversal(2)))).toEqual([[[`t: ${comesBack("`id`", "Int64", "Int32")}`], 0, false]]);
});

test("of an action that has begun it is not asked, and of the others by the names before it and after it", () => {
  const midway = {
    step: stepHash(rollbackOf(migration, 4, before, embedded).actions[2]!.action),
    commit: 0,
    indexes: {},
    metadata: {},
  };
  expect(asked([migration, first], aState({ ...aReversal(2), midway }))).toEqual([[["t: all", "t: all"], 0, true]]);
});

/** What is asked when these are rolled back, of which the first makes a table and the second adds to it. */
function askedOf(steps: readonly (readonly Step[])[], down?: readonly Step[]) {
  const all = steps.map((some, index) => aMigration(index + 1, some));
  if (down !== undefined) all.push({ ...all.pop()!, down });
  const state = aState();
  const known = [...state.migrations.values()][0]!;
  const migrations = new Map(
    all.map(({ version, name, steps: own, checksum }) => [
      version,
      { ...known, version, name, checksum, order: version, step: own.length, total: own.length },
    ]),
  );
  const plan = makePlan({
    migrations: all,
    pending: all.slice(1).toReversed(),
    direction: "down",
    state: { ...state, migrations },
    inDoubt: new Set(),
    target: { name: "local", capabilities: abilitiesOf("namespace") },
    ledger: "_migrations",
  });
  return questionsOf(plan).rows.map(({ asks, words }) => [
    asks.map(({ table: name, predicate }) => `${name}: ${predicate}`),
    words(asks.length === 0 ? undefined : 1),
  ]);
}

test("a column is found however its table was called meanwhile, and whatever has its name now", () => {
  const note = addColumn("a", "x", utf8());
  const values = "has a value, which the rollback drops";
  expect(
    askedOf([
      [createTable("a", { id: int32() })],
      [note],
      [renameTable("a", "b"), renameColumn("b", "x", "y"), renameTable("b", "c")],
    ]),
  ).toEqual([[["c: `y` IS NOT NULL"], `1 row of c.y ${values}`]]);
  expect(
    askedOf([
      [createTable("a", { id: int32() })],
      [addColumn("a", "y", utf8())],
      [renameTable("a", "b"), createTable("a", { z: utf8() }), renameColumn("a", "z", "y")],
    ]),
  ).toEqual([
    [["a: undefined"], expect.stringContaining("a has 1 row")],
    [["b: `y` IS NOT NULL"], `1 row of b.y ${values}`],
  ]);
});

test("what nobody can look at is not taken for nothing", () => {
  const steps = [[createTable("a", { id: int32() })], [addColumn("a", "x", utf8())], [renameColumn("a", "x", "y")]];
  const down = [addColumn("a", "x", utf8(), { as: "y" }), dropColumn("a", "y")];
  expect(askedOf(steps, down)).toEqual([[[], "values of a.x can't be looked for here, and the rollback drops them"]]);
});

test("values inside a list are compared as the whole column", () => {
  const steps = [[createTable("a", { l: list(float32()) })], [retypeColumn("a", "l.item", float64())]];
  const [now, was] = ["List(nullable Float64)", "List(nullable Float32)"];
  const [asks] = askedOf(steps)[0]! as [readonly string[], string];
  expect(asks).toHaveLength(1);
  expect(asks[0]!.replaceAll(/List\([^)]*?Float/g, "List(nullable Float")).toBe(`a: ${comesBack("`l`", now, was)}`);
});
