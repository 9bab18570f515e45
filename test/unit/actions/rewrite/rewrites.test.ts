/** What a rewrite of a column keeps: a retype, and one with `using`. */
import { expect, test } from "vitest";
import type { Action, ActionKind } from "../../../../src/actions/model/action.ts";
import { commitsOf, describeAction, risksOf, tableAfter } from "../../../../src/actions/apply-action.ts";
import {
  columnsOf,
  dictionary,
  float64,
  int8,
  int32,
  int64,
  list,
  struct,
  utf8,
  vector,
} from "../../../../src/schema/declare/type-builders.ts";
import type { NullableType } from "../../../../src/schema/typed/shape.ts";
import { btree, fts, ivfPq } from "../../../../src/schema/declare/index-builders.ts";
import type { Table } from "../../../../src/schema/table.ts";

const retype = (path: string, { type }: NullableType, rename?: string): Action => ({
  kind: "alterColumns",
  table: "t",
  alterations: [{ path, type, rename }],
});
const convert = (path: string, { type }: NullableType): Action => ({
  kind: "convertColumn",
  table: "t",
  path,
  type,
  using: "cast(id as bigint)",
});
const [id, ...others] = columnsOf({ id: int32(), s: struct({ x: int32(), b: utf8() }), l: list(int8()) });
const table: Table = {
  columns: [{ ...id!, metadata: { unit: "EUR", old: null } }, ...others],
  indexes: { on_id: { path: "id", ...btree() }, on_b: { path: "s.b", ...fts() }, gone: null },
};
const after = (action: Action) => tableAfter(new Map([["t", table]]), action);
const kinds = (action: Action, able: (kind: ActionKind) => boolean = () => true, before = table) =>
  commitsOf(action, before, able).map(({ action: one, undo = [] }) =>
    [one.kind, ...undo.map(({ kind }) => kind)].join(" < "),
  );

test.each<[string, Action, string]>([
  [
    "a retype",
    retype("id", dictionary(int8(), int32())),
    "index on_id of t can't be on id as dictionary<int8, int32>: btree is for",
  ],
  ["one with using", convert("id", list(int8())), "index on_id of t can't be on id as list<int8>: btree is for"],
  [
    "one that leaves out a field",
    convert("s", struct({ x: int32() })),
    "index on_b of t can't be on s.b of which nothing is left",
  ],
])("%s to what the column's index is not for is refused", (_, action, problem) => {
  expect(() => after(action)).toThrow(problem);
});

test("a retype of a nullable column goes under a guard, its index and metadata aside", () => {
  const undoIndex = "createIndex";
  expect(kinds(retype("id", int64()))).toEqual([
    "dropIndex",
    `addColumns < ${undoIndex}`,
    `alterColumns < dropColumns < ${undoIndex}`,
    "setMetadata",
    "dropColumns",
    "createIndex",
  ]);
});

test("a retype of a column that is not null needs no guard", () => {
  const strict: Table = { columns: columnsOf({ id: int32().notNull() }) };
  expect(kinds(retype("id", int64()), () => true, strict)).toEqual(["alterColumns"]);
});

test("a target that has nothing else retypes in one commit", () => {
  expect(kinds(retype("id", int64()), (kind) => kind === "alterColumns")).toEqual(["alterColumns"]);
});

test("one with using moves the column to the end", () => {
  const { columns } = after(convert("id", int64()));
  expect(columns.map(({ name }) => name)).toEqual(["s", "l", "id"]);
  expect(columns.at(-1)).toMatchObject({ type: { kind: "int64" }, nullable: true, metadata: { unit: "EUR" } });
  expect(kinds(convert("id", int64()))).toEqual([
    "addColumns",
    "dropColumns < dropColumns",
    "alterColumns",
    "setMetadata",
    "createIndex",
  ]);
});

test("one with using on a column that is not null can be rolled back when there is a null", () => {
  const strict: Table = { columns: columnsOf({ id: int32().notNull() }) };
  expect(kinds(convert("id", int64()), () => true, strict)).toEqual([
    "addColumns",
    "alterColumns < dropColumns",
    "dropColumns < dropColumns",
    "alterColumns",
  ]);
});

test("in words, with what may stop it or get lost", () => {
  expect(describeAction(convert("id", int64()))).toBe(
    "recreate t.id as int64 from cast(id as bigint), as the last column",
  );
  expect(risksOf(convert("id", int64()), table).map(({ kind }) => kind)).toEqual(["failure", "writers"]);
});

test("a vector index is deferred on nulls and on few rows, or can't be made again", () => {
  const vectors: Table = { columns: columnsOf({ v: vector(8) }), indexes: { near: { path: "v", ...ivfPq() } } };
  const recomputed = (using: string): Action => ({ ...convert("v", vector(4)), using }) as Action;
  for (const using of ["null", " (NULL) "]) {
    expect(() => commitsOf(recomputed(using), vectors, () => false)).toThrow(
      "index near of t can't be made again on v, which is all null then; drop it in a step before",
    );
    expect(commitsOf(recomputed(using), vectors, () => true).at(-1)).toMatchObject({ action: { kind: "createIndex" } });
    expect(risksOf(recomputed(using), vectors, () => true)[0]).toEqual({
      kind: "deferral",
      text: "index near is deferred, because t.v is all null then: migrate up builds it once there are enough vectors",
    });
  }
  expect(() => commitsOf(recomputed("nullif(v, v)"), vectors, () => false)).not.toThrow();
  const few = "fewer than 256 vectors in t.v would";
  const textsOf = (action: Action, able: boolean) => risksOf(action, vectors, () => able).map(({ text }) => text);
  for (const action of [recomputed("other"), retype("v", vector(8, float64()))]) {
    expect(textsOf(action, true)).toContain(`${few} defer index near: migrate up builds it once there are enough`);
    expect(textsOf(action, false)).toContain(`${few} stop this`);
  }
});
