import { expect, test } from "vitest";
import { applyAction } from "../../../../support/fold.ts";
import { addComputedColumn, createTable, refreshColumn } from "../../../../../src/steps/index.ts";
import { compileStep, parseStep } from "../../../../../src/steps/registry.ts";
import { int32, int64 } from "../../../../../src/schema/declare/type-builders.ts";

test("a step survives JSON and compiles to its action", () => {
  const step = refreshColumn("t", "total");
  expect(parseStep(JSON.parse(JSON.stringify(step)))).toEqual({ step });
  expect(compileStep(step)).toEqual([{ kind: "refreshColumn", table: "t", path: "total" }]);
});

test("just computed columns are refreshed", () => {
  const made = [createTable("t", { a: int32() }), addComputedColumn("t", "total", int64(), "a + 1")];
  const database = made.flatMap(compileStep).reduce(applyAction, new Map());
  const refresh = (path: string) => () => compileStep(refreshColumn("t", path)).reduce(applyAction, database);
  expect(refresh("total")).not.toThrow();
  expect(refresh("a")).toThrow("a is not a computed column");
  expect(refresh("b")).toThrow(expect.objectContaining({ code: "ERR_COLUMN_MISSING" }));
});
