import { expect, test } from "vitest";
import { compileStep, parseStep } from "../../../../../src/steps/registry.ts";
import { dropTable } from "../../../../../src/steps/index.ts";

const whole = dropTable("t");

test.each([[whole, { kind: "dropTable", table: "t" }]])(
  "step %# survives JSON and compiles to its action",
  (step, action) => {
    expect(parseStep(JSON.parse(JSON.stringify(step)))).toEqual({ step });
    expect(compileStep(step)).toEqual([action]);
  },
);

test.each<[object, string]>([
  [{ table: "" }, "table must be the name of a table"],
  [{ ifExists: true }, "holds an unknown key ifExists"],
])("a step with %j is refused: %s", (change, problem) => {
  expect(parseStep({ ...whole, ...change })).toEqual({ problem, kind: "dropTable" });
});
