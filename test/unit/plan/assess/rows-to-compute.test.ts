import { expect, test } from "vitest";
import { commitsOf } from "../../../../src/actions/apply-action.ts";
import type { Action, BackfillColumnAction, DeleteRowsAction } from "../../../../src/actions/model/action.ts";
import { replay } from "../../../../src/plan/compile/replay.ts";
import { rowsOfCondition } from "../../../../src/plan/assess/rows-to-compute.ts";
import { rowsToCompute } from "../../../../src/features/embed/preflight/rows-to-compute.ts";
import { columnsOf, int32, int64, utf8 } from "../../../../src/schema/declare/type-builders.ts";
import { databaseOf, type Database, type Tables } from "../../../../src/schema/table.ts";

const now: Database = new Map([["t", { columns: columnsOf({ id: int64(), text: utf8(), old: int32() }) }]]);
const computed = columnsOf({ made: int32() });
const add: Action = { kind: "addColumns", table: "t", columns: computed };
const addWith = (as: string): Action => ({ kind: "addColumns", table: "t", columns: [{ ...computed[0]!, as }] });
const rename = (path: string, to: string): Action => ({
  kind: "alterColumns",
  table: "t",
  alterations: [{ path, rename: to }],
});
const index: Action = {
  kind: "createIndex",
  table: "t",
  name: "i",
  index: { path: "text", kind: "btree", options: {} },
};
const update: Action = { kind: "updateRows", table: "t", set: { old: "1" }, where: "old > 1" };
const remove: DeleteRowsAction = { kind: "deleteRows", table: "t", where: "old > 1" };
const renameTable: Action = { kind: "renameTable", table: "t", name: "u" };
const backfill = (path: string, change: Partial<BackfillColumnAction> = {}): BackfillColumnAction => ({
  kind: "backfillColumn",
  table: "t",
  path,
  from: ["text"],
  key: "id",
  with: "./code.ts",
  version: "1",
  ...change,
});

/** The actions in order, with the tables before each. */
function inTurn(actions: readonly Action[], tables: Tables) {
  const bare = actions.map((action) => ({ action }));
  return replay(databaseOf(tables), bare, ({ action }, before) => ({ action, before }));
}

/** `done`: how many of its commits are done; the first one adds the marks. */
function rowsOf(before: readonly Action[], action: Action, done = 0) {
  const all = inTurn([...before, action], now).at(-1)!;
  const commits = commitsOf(action, all.before.get(action.table), () => true).map((commit) => commit.action);
  return rowsToCompute(inTurn(commits, all.before).slice(done), before, now, done > 0);
}

const isNull = "`old` is null";
test.each<[string, ReturnType<typeof rowsOf>, string | undefined]>([
  ["a new column", rowsOf([add], backfill("made")), undefined],
  ["a new column in some rows", rowsOf([add, index], backfill("made", { where: "old > 1" })), "old > 1"],
  ["an existing column", rowsOf([], backfill("old")), isNull],
  ["an existing column in some rows", rowsOf([], backfill("old", { where: "id > 1" })), `(${isNull}) and (id > 1)`],
  ["an existing column with another name", rowsOf([rename("old", "made")], backfill("made")), isNull],
  ["another column than one that is updated", rowsOf([add, update], backfill("made")), undefined],
])("the rows of %s follow from the current table", (_, found, where) => {
  expect(found).toEqual({ table: "t", where });
});

test("if the table has another name now, that is queried", () => {
  expect(rowsOf([renameTable], backfill("old", { table: "u" }))).toEqual({ table: "t", where: isNull });
});

test("a fill that replaces values computes all rows", () => {
  const commit = {
    action: { ...backfill("old", { where: "id > 1" }), kind: "fillColumn", overwrite: true },
    before: now,
  } as const;
  expect(rowsToCompute([commit], [update], now, false)).toBeUndefined();
  expect(rowsToCompute([commit], [], now, false)).toEqual({ table: "t", where: "id > 1" });
});

test("once the fill has begun, its marks show which rows are left", () => {
  const { where } = rowsOf([], backfill("old", { where: "id > 1" }), 1)!;
  expect(where).toMatch(/^\(.*`old` is null and \(.*_lance_migrate_source.*\) and \(id > 1\)$/s);
  expect(rowsOf([], backfill("old"), 2)).toBeUndefined();
});

test.each<[string, ReturnType<typeof rowsOf>]>([
  ["the column gets values before", rowsOf([addWith("1")], backfill("made"))],
  ["the column is updated before", rowsOf([update], backfill("old"))],
  ["rows are deleted before", rowsOf([add, remove], backfill("made"))],
  ["rows of a renamed table are deleted before", rowsOf([remove, renameTable], backfill("old", { table: "u" }))],
  ["the predicate may read an updated column", rowsOf([add, update], backfill("made", { where: "old > 1" }))],
  ["the predicate may read a renamed column", rowsOf([rename("old", "made")], backfill("made", { where: "id > 1" }))],
  ["the plan creates the table", rowsToCompute([{ action: backfill("old"), before: new Map() }], [], new Map(), false)],
  ["no code computes values", rowsOf([], update)],
])("the rows are unknown if %s", (_, found) => {
  expect(found).toBeUndefined();
});

const cast: Action = { kind: "alterColumns", table: "t", alterations: [{ path: "old", type: { kind: "int64" } }] };
test.each<[string, readonly Action[]]>([
  ["nothing", []],
  ["an index on its table", [index, { kind: "optimizeTable", table: "t" } as Action]],
  ["a new column", [addWith("1")]],
  ["an update of another column", [{ kind: "updateRows", table: "t", set: { text: "''" } }]],
  ["another name of another column", [rename("text", "words")]],
  ["a deletion in another table", [{ ...remove, table: "u" }]],
])("the rows of a condition follow from the current table after %s", (_, before) => {
  expect(rowsOfCondition(remove, before, now)).toEqual({ table: "t", where: "old > 1" });
});

test.each<[string, readonly Action[]]>([
  ["rows are deleted before", [remove]],
  ["its column is updated before", [update]],
  ["its column is cast before", [cast]],
  ["the table is restored before", [{ kind: "restoreTable", table: "t", version: 1 } as Action]],
  ["another column has its name then", [rename("old", "gone"), rename("id", "old")]],
  [
    "the plan creates the table",
    [
      { kind: "renameTable", table: "t", name: "u" },
      { kind: "createTable", table: "t", columns: computed },
    ],
  ],
])("the rows of a condition are unknown if %s", (_, before) => {
  expect(rowsOfCondition(remove, before, now)).toBeUndefined();
});
