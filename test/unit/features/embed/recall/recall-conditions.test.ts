import { expect, test } from "vitest";
import type { Action } from "../../../../../src/actions/model/action.ts";
import { vector } from "../../../../../src/schema/declare/type-builders.ts";
import { ivfPq } from "../../../../../src/schema/declare/index-builders.ts";
import { reembedColumn } from "../../../../../src/steps/index.ts";
import { compileStep } from "../../../../../src/steps/registry.ts";
import { recallConditions } from "../../../../../src/features/embed/recall/recall-conditions.ts";

const condition = { minRecall: 0.9, k: 10, sample: 200 };
const create = (table: string, name: string, more: object = { condition }): Action => ({
  kind: "createIndex",
  table,
  name,
  index: { path: "at", kind: "ivfPq", options: {} },
  ...more,
});

test("a condition follows its table, and ends with the index or the table", () => {
  const first = [create("docs", "near"), create("docs", "far", {}), create("notes", "near")];
  const both = [
    { table: "docs", name: "near", condition },
    { table: "notes", name: "near", condition },
  ];
  expect(recallConditions(first)).toEqual(both);
  expect(recallConditions([...first, { kind: "renameTable", table: "docs", name: "texts" }])).toEqual([
    { table: "texts", name: "near", condition },
    both[1],
  ]);
  expect(recallConditions([...first, { kind: "dropIndex", table: "docs", name: "near" }])).toEqual([both[1]]);
  expect(recallConditions([...first, { kind: "dropTable", table: "notes" }])).toEqual([both[0]]);
  expect(recallConditions([...first, create("docs", "near", {})])).toEqual([both[1]]);
});

test("reembedColumn has the condition of the index that it builds", () => {
  const options = { type: vector(8), from: ["text"], key: "id", with: "./embed.ts", version: "2" };
  const index = { index: ivfPq(), indexName: "near", minRecall: 0.9 };
  const step = reembedColumn("docs", "at", { ...options, ...index });
  expect(recallConditions(compileStep(step))).toEqual([{ table: "docs", name: "near", condition }]);
});
