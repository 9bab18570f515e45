import { expect, test } from "vitest";
import type { PlannedCommit } from "../../../../src/plan/commits/commits.ts";
import { stillToDo, type CommitProgress } from "../../../../src/plan/commits/commit-progress.ts";
import { columnsOf, int32 } from "../../../../src/schema/declare/type-builders.ts";

const table = { columns: columnsOf({ a: int32() }) };
const found = new Map([["t", table]]);

/** A commit that drops that column. */
function aCommit(path: string, detour: readonly PlannedCommit[] = []): PlannedCommit {
  const action = { kind: "dropColumns", table: "t", paths: [path] } as const;
  return { action, text: path, undo: [], refresh: undefined, loses: false, detour, before: found, after: found };
}

const commits = [aCommit("first"), aCommit("second", [aCommit("around"), aCommit("back")]), aCommit("third")];

function left(progress: CommitProgress["progress"]): readonly string[] {
  return stillToDo({ commits, progress, kept: { indexes: {}, metadata: {} } }, found).map(({ text }) => text);
}

test("the commits after those that are done are left", () => {
  expect(left({ commits: 0, detour: 0 })).toEqual(["first", "second", "third"]);
  expect(left({ commits: 2, detour: 0 })).toEqual(["third"]);
  expect(left({ commits: 3, detour: 0 })).toEqual([]);
});

test("on a detour its rest is left, instead of the commit that it goes around, and all that come after", () => {
  expect(left({ commits: 1, detour: 1 })).toEqual(["back", "third"]);
  expect(left({ commits: 1, detour: 2 })).toEqual(["third"]);
});
