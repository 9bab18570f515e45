import {
  addColumn,
  addComputedColumn,
  createIndex,
  createTable,
  execute,
  insertRows,
  int32,
  ivfFlat,
  ivfPq,
  btree,
  refreshColumn,
  renameColumn,
  retypeColumn,
  struct,
  utf8,
  vector,
  type Step,
} from "lance-migrate";
import { expect, test } from "vitest";
import { bareBefore, isBare, vectorsHint } from "../../../../src/plan/compile/vector-index-check.ts";
import { compileStep } from "../../../../src/steps/registry.ts";

const d = createTable("d", { id: int32(), v: vector(4) });
const index = createIndex("d", "v", ivfFlat());

function isBareAfter(table: string, path: string, ...steps: readonly Step[]): boolean {
  return isBare(bareBefore([...steps, index].flatMap(compileStep)).at(-1)!, table, path);
}

test.each<[string, string, string, readonly Step[]]>([
  ["its table is new", "d", "v", [d]],
  ["its column is new", "d", "v", [addColumn("d", "v", vector(4))]],
  ["its column was emptied", "d", "v", [retypeColumn("d", "v", vector(8), { using: "null" })]],
  [
    "its column was renamed",
    "d",
    "x.v",
    [addColumn("d", "w", struct({ v: vector(4) })), renameColumn("d", "w", "x"), addColumn("d", "y", utf8())],
  ],
])("a column holds no vectors where %s", (_, table, path, steps) => {
  expect(isBareAfter(table, path, ...steps)).toBe(true);
});

test.each<[string, readonly Step[]]>([
  ["its table was there before", []],
  ["its table was given rows", [createTable("d", { v: vector(1) }, { rows: [{ v: [1] }] })]],
  ["rows were inserted", [d, insertRows("d", [{ id: 1, v: [1, 2, 3, 4] }], { key: "id" })]],
  ["its column was given values", [addColumn("d", "v", vector(4), { as: "w" })]],
  ["its column was filled", [addColumn("d", "v", vector(4)), execute("d", { update: { v: "w" } })]],
  [
    "its column was recreated with values",
    [addColumn("d", "v", vector(2)), retypeColumn("d", "v", vector(4), { using: "w" })],
  ],
  ["its column was computed", [addComputedColumn("d", "v", vector(4), "arrow_cast(w, 'v')"), refreshColumn("d", "v")]],
  ["another table is new", [createTable("e", { v: vector(4) })]],
])("a column may hold vectors where %s", (_, steps) => {
  expect(isBareAfter("d", "v", ...steps)).toBe(false);
});

test("where the creation of an index failed, the error states how many vectors it needs", () => {
  const [one, pq, other] = [index, createIndex("d", "v", ivfPq()), createIndex("d", "id", btree())].flatMap(
    compileStep,
  );
  expect(vectorsHint(one!)).toBe(" (this index is made of vectors: it needs 1 vector at least)");
  expect(vectorsHint(pq!)).toContain("256 vectors");
  expect(vectorsHint(other!)).toBe("");
  expect(vectorsHint(compileStep(createTable("d", { t: utf8() }))[0]!)).toBe("");
});
