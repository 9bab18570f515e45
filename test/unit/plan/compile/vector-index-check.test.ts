import {
  addColumn,
  addComputedColumn,
  createIndex,
  createTable,
  execute,
  hnswSq,
  insertRows,
  int32,
  ivfFlat,
  ivfPq,
  btree,
  refreshColumn,
  renameColumn,
  renameTable,
  retypeColumn,
  struct,
  utf8,
  vector,
  type Step,
} from "lance-migrate";
import { expect, test } from "vitest";
import { vectorsHint, withoutVectors } from "../../../../src/plan/compile/vector-index-check.ts";
import { compileStep } from "../../../../src/steps/registry.ts";

const d = createTable("d", { id: int32(), v: vector(4) });
const index = createIndex("d", "v", ivfFlat());

function reasons(...steps: readonly Step[]): readonly string[] {
  return [...withoutVectors(steps.flatMap(compileStep)).values()];
}

test.each<[string, readonly Step[], string]>([
  ["its table is new", [d, index], "d has no rows"],
  ["its table was renamed before it", [d, renameTable("d", "e"), createIndex("e", "v", ivfPq())], "e has no rows"],
  ["its column is new", [addColumn("d", "w", vector(4)), createIndex("d", "w", hnswSq())], "w is all null"],
  ["its column was emptied", [retypeColumn("d", "v", vector(8), { using: "null" }), index], "v is all null"],
  [
    "its column was renamed before it",
    [addColumn("d", "w", struct({ v: vector(4) })), renameColumn("d", "w", "x"), createIndex("d", "x.v", ivfFlat())],
    "x is all null",
  ],
])("a vector index is refused where %s", (_, steps, words) => {
  expect(reasons(...steps)).toEqual([
    `a vector index needs vectors, and ${words} at that step; create the index in a later migration, and run that once the table holds vectors`,
  ]);
});

test.each<[string, readonly Step[]]>([
  ["its table was there before", [index]],
  ["its table was given rows", [createTable("d", { v: vector(1) }, { rows: [{ v: [1] }] }), index]],
  ["rows were brought", [d, insertRows("d", [{ id: 1, v: [1, 2, 3, 4] }], { key: "id" }), index]],
  ["its column was given values", [addColumn("d", "v", vector(4), { as: "w" }), index]],
  ["its column was filled", [addColumn("d", "v", vector(4)), execute("d", { update: { v: "w" } }), index]],
  [
    "its column was recreated with values",
    [addColumn("d", "v", vector(2)), retypeColumn("d", "v", vector(4), { using: "w" }), index],
  ],
  [
    "its column was computed",
    [addComputedColumn("d", "v", vector(4), "arrow_cast(w, 'v')"), refreshColumn("d", "v"), index],
  ],
  ["it is of another kind", [d, createIndex("d", "id", btree())]],
  ["another table is new", [createTable("e", { v: vector(4) }), index]],
])("it may work where %s", (_, steps) => {
  expect(reasons(...steps)).toEqual([]);
});

test("where it failed it is said what it needs", () => {
  const [flat, pq, other] = [index, createIndex("d", "v", ivfPq()), createIndex("d", "id", btree())].flatMap(
    compileStep,
  );
  expect(vectorsHint(flat!)).toBe(" (this index is made of vectors: it needs 1 vector at least)");
  expect(vectorsHint(pq!)).toContain("256 vectors");
  expect(vectorsHint(other!)).toBe("");
  expect(vectorsHint(compileStep(createTable("d", { t: utf8() }))[0]!)).toBe("");
});
