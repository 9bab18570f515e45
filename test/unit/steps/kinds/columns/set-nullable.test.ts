import { expect, test } from "vitest";
import { compileStep, parseStep } from "../../../../../src/steps/registry.ts";
import { setNullable } from "../../../../../src/steps/index.ts";

const step = setNullable("documents", "source.url", false);

test("the builder makes plain data", () => {
  expect(step).toEqual({ kind: "setNullable", table: "documents", path: "source.url", nullable: false });
});

test("the step survives JSON and is taken as it is", () => {
  expect(parseStep(JSON.parse(JSON.stringify(step)))).toEqual({ step });
});

test.each([true, false])("with %s it compiles to one alteration", (nullable) => {
  expect(compileStep(setNullable("t", "a", nullable))).toEqual([
    { kind: "alterColumns", table: "t", alterations: [{ path: "a", nullable }] },
  ]);
});

test.each([
  [{ table: "" }, "table must be the name of a table"],
  [{ path: 1 }, "path must be the path of a column"],
  [{ nullable: undefined }, "nullable must be true or false"],
  [{ nullable: "false" }, "nullable must be true or false"],
  [{ nullable: 0 }, "nullable must be true or false"],
  [{ default: 0 }, "holds an unknown key default"],
])("a step with %j is refused", (change, problem) => {
  expect(parseStep({ ...step, ...change })).toEqual({ problem, kind: "setNullable" });
});
