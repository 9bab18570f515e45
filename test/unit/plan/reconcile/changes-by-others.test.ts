import { btree, int32 } from "lance-migrate";
import { expect, test } from "vitest";
import { othersSince, withOthers } from "../../../../src/plan/reconcile/changes-by-others.ts";
import type { Action } from "../../../../src/actions/model/action.ts";
import type { Column } from "../../../../src/schema/data-type.ts";
import { columnsOf } from "../../../../src/schema/declare/type-builders.ts";
import type { Table } from "../../../../src/schema/table.ts";

const column = (name: string, metadata?: Column["metadata"]): Column => ({
  name,
  type: { kind: "int32" },
  nullable: true,
  ...(metadata && { metadata }),
});

/** What others did to a table of a migration's columns, which is restored as it was seen before. */
function others(undoes: readonly Action[], { replaced, restored }: { replaced: Table; restored: Table }, own?: Table) {
  const action: Action = { kind: "restoreTable", table: "t", version: 1, after: 2, as: restored, isSilent: false };
  const before = new Map([["t", own ?? { columns: [] }]]);
  return othersSince({ action, before, after: new Map([["t", { columns: [] }]]), undoes }, replaced, restored);
}

test("a column of the name of one that was dropped is another one", () => {
  const undoes: readonly Action[] = [
    { kind: "dropColumns", table: "t", paths: ["a"] },
    { kind: "addColumns", table: "t", columns: [column("a")] },
  ];
  const index = { path: "a", kind: "btree", options: {} } as const;
  const replaced = { columns: [column("a", { theirs: "1" })], indexes: { theirs: index } };
  expect(others(undoes, { replaced, restored: { columns: [column("a")] } })).toEqual({
    metadata: [],
    indexes: [],
    lost: [],
  });
});

test("keys of the schema's metadata that others have changed are lost, and those of migrations are not theirs", () => {
  const replaced: Table = { columns: [], metadata: { changed: "2", added: "1", same: "1", own: "2" } };
  const restored: Table = { columns: [], metadata: { changed: "1", removed: "1", same: "1", own: "1" } };
  expect(others([], { replaced, restored }, { columns: [], metadata: { own: "2" } }).lost).toEqual([
    "changed in the schema's metadata",
    "removed in the schema's metadata",
    "added in the schema's metadata",
  ]);
});

test("keys by which the engine reads a column are its version's own", () => {
  const replaced = { columns: [column("a", { "lance-encoding:blob": "true", theirs: "1" })] };
  expect(others([], { replaced, restored: { columns: [column("a")] } }).metadata).toEqual([
    { path: "a", metadata: { theirs: "1" } },
  ]);
});

test("an index of others that can't be recreated is lost, unless the restored version has it too", () => {
  const theirs = {
    path: "a",
    kind: "IvfSq",
    options: {},
    stuck: "lance-migrate can't create an index of the kind IvfSq",
  };
  const replaced = { columns: [column("a")], indexes: { theirs } };
  expect(others([], { replaced, restored: { columns: [column("a")] } })).toEqual({
    metadata: [],
    indexes: [],
    lost: ["index theirs on a, which can't be recreated: lance-migrate can't create an index of the kind IvfSq"],
  });
  expect(others([], { replaced, restored: replaced }).lost).toEqual([]);
});

test("a table that others' indexes are put back on keeps the indexes of the restored version", () => {
  const own = { path: "id", ...btree() };
  const restored = { columns: columnsOf({ id: int32(), a: int32() }), indexes: { own } };
  const theirs = { path: "a", ...btree() };
  const { indexes } = withOthers("t", restored, { metadata: [], indexes: [["theirs", theirs]], lost: [] });
  expect(indexes).toEqual({ own, theirs });
});
