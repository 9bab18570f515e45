import { expect, test } from "vitest";
import { compileStep, parseStep } from "../../../../../src/steps/registry.ts";
import { renameTable } from "../../../../../src/steps/index.ts";

const whole = renameTable("t", "u");

test.each([[whole, { kind: "renameTable", table: "t", name: "u" }]])(
  "step %# survives JSON and compiles to its action",
  (step, action) => {
    expect(parseStep(JSON.parse(JSON.stringify(step)))).toEqual({ step });
    expect(compileStep(step)).toEqual([action]);
  },
);

test.each<[object, string]>([
  [{ table: "" }, "table must be the name of a table"],
  [{ name: "" }, "name must be the name of a table"],
  [{ to: "v" }, "holds an unknown key to"],
])("a step with %j is refused: %s", (change, problem) => {
  expect(parseStep({ ...whole, ...change })).toEqual({ problem, kind: "renameTable" });
});
