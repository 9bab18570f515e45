import {
  addColumn,
  createTable,
  dropColumn,
  int32,
  int64,
  renameColumn,
  retypeColumn,
  setNullable,
  utf8,
  type Step,
} from "lance-migrate";
import { expect, test } from "vitest";
import type { LedgerMigration, LedgerState } from "../../../src/ledger/fold.ts";
import { checksumOf, stepHash } from "../../../src/migrations/checksum.ts";
import { courseBack } from "../../../src/plan/course.ts";
import { foldHistory } from "../../../src/plan/fold.ts";
import { questionsOf } from "../../../src/plan/obstacles.ts";
import { makePlan } from "../../../src/plan/plan.ts";
import { rollbackOf } from "../../../src/plan/rollback.ts";
import { columnsOf } from "../../../src/schema/builders.ts";
import { abilitiesOf } from "../../../src/targets/memory/memory.ts";
import { aMigration } from "../../simulate/history.ts";

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
  const { actions, obstacles } = rollbackOf(migration, done, before, embedded);
  return [
    actions.map(({ place, action }) => `${place.step} ${action.kind}`),
    obstacles.map(({ at, obstacle }) => `${at} ${obstacle.kind}`),
  ];
};

test("steps are taken back from the last to the first", () => {
  expect(wordsOf(4)).toEqual([
    ["4 dropColumns", "3 alterColumns", "2 alterColumns", "1 alterColumns"],
    ["0 values", "1 null", "2 cast"],
  ]);
});

test("of what stopped half-way that is taken back which had run", () => {
  expect(wordsOf(2)).toEqual([["2 alterColumns", "1 alterColumns"], ["0 cast"]]);
});

test("what can't be taken back is said with its step", () => {
  const lossy = aMigration(2, [steps[0]!, dropColumn("t", "headline")]);
  expect(() => rollbackOf(lossy, 2, before, embedded)).toThrow(
    "0002_drawn.ts, step 2 (dropColumn) can't be taken back: t.headline is dropped with its values",
  );
});

const rename = [renameColumn("t", "title", "headline")];
const dropping = { ...aMigration(2, [dropColumn("t", "title")]), down: [addColumn("t", "title", utf8())] };

test("what the file says is done instead of what follows from the steps", () => {
  const { actions, obstacles } = rollbackOf(dropping, 1, before, embedded);
  expect(actions).toMatchObject([
    { place: { step: 1, of: "down", kind: "addColumn" }, action: { kind: "addColumns" } },
  ]);
  expect(obstacles).toEqual([]);
});

test("what the file says has to lead to the tables that were there before", () => {
  const wrong = { ...aMigration(2, rename), down: [renameColumn("t", "headline", "name")] };
  expect(() => rollbackOf(wrong, 1, before, embedded)).toThrow(
    /^0002_drawn.ts, step 1 of down \(renameColumn\) can't be taken back: that does not lead to the tables before it: t: .*title/,
  );
  const impossible = { ...aMigration(2, rename), down: [renameColumn("t", "absent", "name")] };
  expect(() => rollbackOf(impossible, 1, before, embedded)).toThrow(
    "step 1 of down (renameColumn) can't be taken back",
  );
});

test("of what stopped half-way the file does not say how it is taken back", () => {
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
  const nothing = { head: undefined, told: undefined, holder: undefined, doubtful: new Set<number>(), late: [] };
  return { ...nothing, epoch: 1, migrations };
}

/** As far as these of the actions that take it back. */
function aReversal(step: number) {
  const begun = rollbackOf(migration, 4, before, embedded)
    .actions.slice(0, step)
    .map(({ action }) => action);
  return { step, total: 4, checksum: checksumOf(begun), steps: begun.map(stepHash), attempt: 1 };
}

test("the database is as far back as the ledger says", () => {
  const names = (step: number) =>
    foldHistory([first, migration], aState(aReversal(step)), embedded)
      .get("t")!
      .columns.map(({ name, type, nullable }) => `${name} ${type.kind} ${nullable}`);
  expect([0, 1, 3, 4].map(names)).toEqual([
    ["id int64 true", "headline utf8 true", "note utf8 true"],
    ["id int64 true", "headline utf8 true"],
    ["id int32 false", "headline utf8 true"],
    ["id int32 false", "title utf8 true"],
  ]);
});

test("a release that would take it back by other actions does not go on with those of another one", () => {
  const other = { ...aReversal(2), checksum: checksumOf(["another"]) };
  expect(courseBack(migration, before, aState(aReversal(2)), embedded)()).toMatchObject({ done: 2, attempt: 2 });
  expect(courseBack(migration, before, aState(other), embedded)).toThrow("is being taken back, and by other actions");
});

const planBack = (pending: readonly (typeof first)[], state = aState()) =>
  makePlan({
    migrations: [first, migration],
    pending,
    direction: "down",
    state,
    doubtful: new Set(),
    target: { name: "local", capabilities: embedded },
    ledger: "_migrations",
  });

test("rows are asked for by the names and types that columns have before anything is changed", () => {
  const asked = questionsOf(planBack([migration, first])).map(({ table: name, predicate, allowed, mayLose }) => [
    name,
    predicate,
    allowed,
    mayLose,
  ]);
  const back = "arrow_try_cast(arrow_try_cast(arrow_try_cast(`id`, 'Int64'), 'Int32'), 'Int64')";
  expect(asked).toEqual([
    ["t", "`note` IS NOT NULL", 0, true],
    ["t", "`id` IS NULL", 0, false],
    ["t", `\`id\` IS NOT NULL AND (${back} IS NULL OR ${back} <> arrow_try_cast(\`id\`, 'Int64'))`, 0, false],
    ["t", undefined, 0, true],
  ]);
});

test("what is taken back already is not asked for", () => {
  const asked = questionsOf(planBack([migration], aState(aReversal(2)))).map(({ predicate }) => predicate);
  expect(asked).toEqual([expect.stringContaining("arrow_try_cast")]);
});
