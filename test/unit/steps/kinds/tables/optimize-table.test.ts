import { expect, test } from "vitest";
import { applyAction } from "../../../../support/fold.ts";
import { createTable, optimizeTable } from "../../../../../src/steps/index.ts";
import { compileStep, parseStep } from "../../../../../src/steps/registry.ts";
import { int32 } from "../../../../../src/schema/declare/type-builders.ts";

test("a step survives JSON and compiles to its action", () => {
  const step = optimizeTable("t");
  expect(parseStep(JSON.parse(JSON.stringify(step)))).toEqual({ step });
  expect(compileStep(step)).toEqual([{ kind: "optimizeTable", table: "t" }]);
});

test("it changes nothing of the model, and needs its table", () => {
  const database = compileStep(createTable("t", { a: int32() })).reduce(applyAction, new Map());
  const optimise = (table: string) => compileStep(optimizeTable(table)).reduce(applyAction, database);
  expect(optimise("t")).toEqual(database);
  expect(() => optimise("u")).toThrow(expect.objectContaining({ code: "ERR_TABLE_MISSING" }));
});
