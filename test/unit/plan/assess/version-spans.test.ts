import { expect, test } from "vitest";
import type { PlannedMigration } from "../../../../src/plan/make-plan.ts";
import { spansSince } from "../../../../src/plan/assess/version-spans.ts";
import type { Action } from "../../../../src/actions/model/action.ts";

const drop: Action = { kind: "dropColumns", table: "t", paths: ["a"] };
const restore = {
  kind: "restoreTable",
  table: "t",
  version: 1,
  after: 2,
  as: { columns: [] },
  isSilent: true,
} as Action;

/** A migration that is rolled back by these actions, and took t from one version to another. */
function took(own: unknown, actions: readonly Action[] = [drop], more: Partial<PlannedMigration> = {}) {
  const tables = own === undefined ? {} : { t: own };
  return { tables, actions: actions.map((action) => ({ action })), done: 0, midway: undefined, ...more } as never;
}

const spans = (newer: readonly never[], until?: number) =>
  spansSince("t", 5, newer, until)?.map((span) => [span.from, span.until]);

test("where no other migration came since, others may have written at any time since", () => {
  expect(spans([])).toEqual([[5, undefined]]);
  expect(spans([], 8)).toEqual([[5, 8]]);
  expect(spans([], 5)).toEqual([]);
});

test("what newer migrations made themselves is left out", () => {
  expect(spans([took([7, 8])])).toEqual([
    [5, 7],
    [8, undefined],
  ]);
  // The last is the first.
  expect(spans([took([9, 10]), took([5, 6])])).toEqual([
    [6, 9],
    [10, undefined],
  ]);
  // As many as its code needed.
  expect(spans([took([7, 12, "none"])])).toEqual([
    [5, 7],
    [12, undefined],
  ]);
  // Those of other tables are none of it.
  expect(spans([took(undefined), took([5, 6])])).toEqual([[6, undefined]]);
});

test("from the version that is restored before on, nothing is asked", () => {
  expect(spans([took([7, 8])], 7)).toEqual([[5, 7]]);
});

test.each([
  ["whose versions are unknown", took([null, 8])],
  ["whose end is unknown", took([7, null])],
  ["that ran before", took([4, 6])],
  ["that made more versions than it has actions", took([7, 9])],
  ["that was known to be beside others", took([7, 8, true])],
  ["that is rolled back in part", took([7, 8], [drop], { done: 1 })],
  ["that stopped half-way", took([7, 8], [drop], { midway: {} as never })],
  ["that renames the table", took([7, 8], [drop, { kind: "renameTable", table: "t", name: "u" }])],
])("beside a migration %s it is unknown where others have written", (_, migration) => {
  expect(spans([migration])).toBeUndefined();
});

test("where a version is restored it was recorded whether others wrote meanwhile", () => {
  expect(spans([took([7, 12], [restore])])).toEqual([
    [5, 7],
    [12, undefined],
  ]);
});
