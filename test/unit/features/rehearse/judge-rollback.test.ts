import { expect, test } from "vitest";
import {
  isToTry,
  judge,
  rollbackTexts,
  timesOf,
  type Trial,
} from "../../../../src/features/rehearse/judge-rollback.ts";
import type { CopySnapshots } from "../../../../src/features/shared/scratch-snapshots.ts";
import type { PlannedAction, PlannedMigration } from "../../../../src/plan/make-plan.ts";
import type { RollbackClass } from "../../../../src/plan/rollback/rollback-classes.ts";
import type { Action } from "../../../../src/actions/model/action.ts";
import type { Table } from "../../../../src/schema/table.ts";

const rename: Action = { kind: "alterColumns", table: "docs", alterations: [{ path: "a", rename: "b" }] };
const renameBack: Action = { kind: "alterColumns", table: "docs", alterations: [{ path: "b", rename: "a" }] };
const other: Action = { kind: "dropIndex", table: "authors", name: "by_name" };

/** A migration with just what is judged. */
function planned(...actions: readonly (readonly [Action, RollbackClass, object?])[]): PlannedMigration {
  return {
    actions: actions.map(([action, is, more]) => ({
      action,
      rollback: { class: is, actions: [], text: "", reason: "it is gone", ...more },
    })),
  } as unknown as PlannedMigration;
}

function table(metadata?: Record<string, string>, indexes: Table["indexes"] = {}): Table {
  return { columns: [{ name: "a", type: { kind: "int32" }, nullable: true, metadata }], indexes };
}

const rows = (count: number, sum = "x") => ({ count, sum });
const seen = (found: Table | undefined, held: { count: number; sum: string | undefined } = rows(3)): CopySnapshots =>
  new Map([["docs", { table: found, rows: held }]]);
const back = (more: object): Trial => ({
  kind: "back",
  before: seen(table()),
  after: seen(table()),
  back: seen(table()),
  again: seen(table()),
  ...more,
});

const exact = planned([rename, "exact"]);
const verdict = (migration: PlannedMigration, trial: Trial) => judge(migration, trial)[0];

test("a promise is kept where columns and rows are as they were", () => {
  expect(verdict(exact, back({}))).toEqual({ class: "exact", verdict: "kept", reason: undefined });
});

test.each([
  ["rows are gone", { back: seen(table(), rows(2)) }, "after down docs has 2 rows instead of 3"],
  ["values are others", { back: seen(table(), rows(3, "y")) }, "after down rows of docs hold other values"],
  ["the table is gone", { back: seen(undefined) }, "after down docs: it does not exist"],
  [
    "metadata is there that was not",
    { back: seen(table({ unit: "m" })) },
    'after down docs: unit of column a is "m" instead of not set',
  ],
  [
    "metadata is gone",
    { before: seen(table({ unit: "m" })) },
    'after down docs: unit of column a is not set instead of "m"',
  ],
  [
    "an index is there that was not",
    { back: seen(table({}, { by_a: { path: "a", kind: "btree", options: {} } })) },
    "after down docs: index by_a exists, but should not",
  ],
  [
    "a second up gives other values",
    { again: seen(table(), rows(3, "y")) },
    "after a second up rows of docs hold other values",
  ],
  ["there is no second up", { again: "it failed" }, "up did not go a second time: it failed"],
])("a promise is broken where %s", (_, trial, reason) => {
  expect(verdict(exact, back(trial))).toEqual({ class: "exact", verdict: "broken", reason });
});

test("a step is judged by its own table", () => {
  const both = planned([other, "exact"], [rename, "exact"]);
  const judged = judge(both, back({ back: seen(table(), rows(2)) }));
  expect(judged.map((one) => one.verdict)).toEqual(["kept", "broken"]);
});

test("of what an expression gives, it may give something else the second time", () => {
  const random: Action = { kind: "updateRows", table: "docs", set: { a: "random()" } };
  expect(verdict(planned([random, "restore"]), back({ again: seen(table(), rows(3, "y")) }))).toMatchObject({
    verdict: "kept",
    reason: "an expression gives other values each time",
  });
});

test("a column that is called like such a function gives the same again", () => {
  const plain: Action = { kind: "updateRows", table: "docs", set: { random: "7" } };
  expect(verdict(planned([plain, "restore"]), back({ again: seen(table(), rows(3, "y")) }))).toMatchObject({
    verdict: "broken",
  });
});

test("where values can't be read it is said that they were not compared", () => {
  const unread = seen(table(), { count: 3, sum: undefined });
  expect(
    verdict(planned([rename, "exact"]), back({ before: unread, after: unread, back: unread, again: unread })),
  ).toMatchObject({ verdict: "kept", reason: "values of docs were not compared" });
});

test("of a down that its file exports, the columns are promised and the rows are not", () => {
  const written = { ...exact, writtenDown: ["rename docs.b to a"] };
  const judged = (trial: object) => verdict(written, back(trial));
  expect(judged({ back: seen(table(), rows(0)), again: seen(table(), rows(0)) })).toEqual({
    class: undefined,
    verdict: "kept",
    reason: "after down docs has 0 rows instead of 3, of which its file promises nothing",
  });
  expect(judged({ back: seen(undefined) })).toMatchObject({ verdict: "broken" });
});

const refused = (more: object = {}): Trial => ({
  kind: "refused",
  problem: "nulls",
  after: seen(table()),
  left: seen(table()),
  ...more,
});

test("rows may block what is checked, and nothing else", () => {
  const mixed = judge(planned([rename, "checked"], [rename, "exact"]), refused());
  expect(mixed.map((one) => one.verdict)).toEqual(["refused", "untried"]);
  expect(verdict(exact, refused())).toMatchObject({ verdict: "broken", reason: "it was refused: nulls" });
  expect(verdict(planned([rename, "checked"]), refused({ left: seen(undefined) }))).toMatchObject({
    verdict: "broken",
    reason: "it was refused, but it changed: docs: it does not exist",
  });
});

test("where one step can't be rolled back, none of its migration is tried", () => {
  const migration = planned([rename, "exact"], [other, "none"]);
  expect(isToTry(migration)).toBe(false);
  expect(isToTry({ ...migration, writtenDown: [] })).toBe(true);
  expect(judge(migration, { kind: "untried", reason: undefined }).map(({ reason }) => reason)).toEqual([
    "another step of its migration can't be rolled back",
    "it is gone",
  ]);
});

test("the time of a restored version stands with the first step on its table", () => {
  const restores = { restores: "docs" };
  const { actions } = planned(
    [rename, "restore", restores],
    [rename, "restore", restores],
    [other, "exact", { actions: [renameBack] }],
  );
  const ran = [
    { text: "rename docs.b to a", duration: 4 },
    { text: "restore version 7 of docs", duration: 9 },
  ];
  const before: CopySnapshots = new Map([["docs", { table: table(), version: 7, rows: rows(3) }]]);
  const texts = (actions as readonly PlannedAction[]).map((action) => rollbackTexts(action, before));
  expect(timesOf(texts, ran)).toEqual([9, undefined, 4]);
});
