import { expect, test } from "vitest";
import { commitsOf, risksOf } from "../../../../../src/actions/apply-action.ts";
import type { Action } from "../../../../../src/actions/model/action.ts";
import { ivfFlat } from "../../../../../src/schema/declare/index-builders.ts";
import { columnsOf, vector } from "../../../../../src/schema/declare/type-builders.ts";
import type { Table } from "../../../../../src/schema/table.ts";
import { rebuildIndex } from "../../../../../src/steps/index.ts";
import { compileStep, parseStep } from "../../../../../src/steps/registry.ts";
import { applyAction } from "../../../../support/fold.ts";

const step = rebuildIndex("t", "i");
const [action] = compileStep(step) as [Action];
const table = (indexes: Table["indexes"]): Table => ({ columns: columnsOf({ v: vector(2) }), indexes });
const known = table({ i: { path: "v", ...ivfFlat({ numPartitions: 2 }) } });

test("a step survives JSON and compiles to its action", () => {
  expect(parseStep(JSON.parse(JSON.stringify(step)))).toEqual({ step });
  expect(action).toEqual({ kind: "rebuildIndex", table: "t", name: "i" });
});

test("it is one call that replaces the index by one with the same parameters, and may fail for the same reasons", () => {
  const index = known.indexes!["i"];
  expect(commitsOf(action, known, () => true)).toEqual([
    { action: { kind: "createIndex", table: "t", name: "i", index, replace: true } },
  ]);
  expect(risksOf(action, known)).toMatchObject([{ kind: "failure", blocker: { kind: "vectors", least: 2 } }]);
});

test("an index that is not there, or can't be built as it is, is refused", () => {
  const apply = (indexes: Table["indexes"]) => () => applyAction(new Map([["t", table(indexes)]]), action);
  expect(apply({ i: null })).toThrow("index i of t is not there at this point");
  expect(apply({})).not.toThrow();
  const stuck = table({ i: { path: "v", kind: "IVF_SQ", options: {}, stuck: "no client makes it" } });
  expect(() => commitsOf(action, stuck, () => true)).toThrow("index i of t can't be rebuilt: no client makes it");
});
