import { expect, test } from "vitest";
import { planCommits, type CommitPosition, type PlannedCommit } from "../../../../src/plan/commits/commits.ts";
import { commitProgress, stillToDo, toDropOnceMore } from "../../../../src/plan/commits/commit-progress.ts";
import { btree } from "../../../../src/schema/declare/index-builders.ts";
import type { Table } from "../../../../src/schema/table.ts";
import { columnsOf, int32 } from "../../../../src/schema/declare/type-builders.ts";

const table = { columns: columnsOf({ a: int32() }) };
const found = new Map([["t", table]]);

/** A commit that drops that column. */
function aCommit(path: string, detour: readonly PlannedCommit[] = []): PlannedCommit {
  const action = { kind: "dropColumns", table: "t", paths: [path] } as const;
  return { action, text: path, undo: [], refresh: undefined, loses: false, detour, before: found, after: found };
}

const commits = [aCommit("first"), aCommit("second", [aCommit("around"), aCommit("back")]), aCommit("third")];

function left(position: CommitPosition): readonly string[] {
  return stillToDo({ commits, ...position, kept: { indexes: {}, metadata: {} } }, found).map(({ text }) => text);
}

test("the commits after those that are done are left", () => {
  expect(left({ done: 0, detour: 0 })).toEqual(["first", "second", "third"]);
  expect(left({ done: 2, detour: 0 })).toEqual(["third"]);
  expect(left({ done: 3, detour: 0 })).toEqual([]);
});

test("on a detour its rest is left, instead of the commit that it goes around, and all that come after", () => {
  expect(left({ done: 1, detour: 1 })).toEqual(["back", "third"]);
  expect(left({ done: 1, detour: 2 })).toEqual(["third"]);
});

test("an index that others drop before the commit that would lose it is not created again", () => {
  const convert = { kind: "convertColumn", table: "t", path: "a", type: { kind: "int32" }, using: "a + 1" } as const;
  const kept = { indexes: { i: { path: "a", ...btree() } }, metadata: {} };
  const before = new Map([["t", { ...table, indexes: kept.indexes }]]);
  const actions = { addColumns: true, alterColumns: true, createIndex: true, dropColumns: true } as const;
  const progress = commitProgress(convert, before, { ...kept, commit: 0 }, found, {
    actions,
    describes: true,
    fences: true,
  });
  expect(progress).toMatchObject({ done: 0, detour: 0 });
  expect(progress?.kept.indexes).toEqual({});
});

test("only an index that others have created again is dropped once more", () => {
  const retype = {
    kind: "alterColumns",
    table: "t",
    alterations: [{ path: "a", type: { kind: "int64" } }],
  } as const;
  const indexed = { ...table, indexes: { i: { path: "a", ...btree() } } };
  const actions = {
    addColumns: true,
    alterColumns: true,
    createIndex: true,
    dropColumns: true,
    dropIndex: true,
    setMetadata: true,
  } as const;
  const planned = planCommits(retype, new Map([["t", indexed]]), { actions, describes: true });
  const begun = { commits: planned, done: 1, detour: 0, kept: { indexes: {}, metadata: {} } };
  const againOf = (now: Table) => toDropOnceMore(begun, new Map([["t", now]])).map(({ text }) => text);
  expect(againOf(indexed)).toEqual(["drop index i of t"]);
  expect(againOf(table)).toEqual([]);
});
