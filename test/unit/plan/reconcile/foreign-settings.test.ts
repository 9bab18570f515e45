import { btree, int32 } from "lance-migrate";
import { expect, test } from "vitest";
import {
  foreignSettings,
  metadataToReset,
  withForeignSettings,
} from "../../../../src/plan/reconcile/foreign-settings.ts";
import type { Action } from "../../../../src/actions/model/action.ts";
import type { Column } from "../../../../src/schema/data-type.ts";
import { columnsOf, int64 } from "../../../../src/schema/declare/type-builders.ts";
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
  return foreignSettings({ action, before, after: new Map([["t", { columns: [] }]]), undoes }, replaced, restored);
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
  const { indexes } = withForeignSettings("t", restored, { metadata: [], indexes: [["theirs", theirs]], lost: [] });
  expect(indexes).toEqual({ own, theirs });
});

const swap: Action = {
  kind: "alterColumns",
  table: "t",
  alterations: [
    { path: "a", rename: "b" },
    { path: "b", rename: "a" },
  ],
};
const [a, b] = columnsOf({ a: int64(), b: int32() }) as [Column, Column];
const marked = (column: Column): Column => ({ ...column, metadata: { source: "form" } });
const swapped = [
  { ...a, name: "b" },
  { ...b, name: "a" },
];

test("what the commit of the call lost is set again, by the new names", () => {
  const [before, after] = [{ columns: [marked(a), b] }, { columns: swapped }];
  expect(metadataToReset(swap, before, after, after)).toEqual([{ path: "b", metadata: { source: "form" } }]);
});

test("what others have set since the commit stays", () => {
  const [before, after] = [{ columns: [marked(a), b] }, { columns: swapped }];
  const now = { columns: [{ ...swapped[0]!, metadata: { source: "theirs" } }, swapped[1]!] };
  expect(metadataToReset(swap, before, after, now)).toEqual([]);
});

test("a commit of another table is not the call's, and nothing is set on that table", () => {
  // The table was recreated as the call had left it, and somebody appended to it.
  const table = { columns: [marked(swapped[0]!), swapped[1]!] };
  expect(metadataToReset(swap, table, table, table)).toEqual([]);
});
