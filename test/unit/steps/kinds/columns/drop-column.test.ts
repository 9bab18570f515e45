import { expect, test } from "vitest";
import { compileStep, parseStep } from "../../../../../src/steps/registry.ts";
import { dropColumn } from "../../../../../src/steps/index.ts";

const whole = dropColumn("t", "s.x");

test.each([[whole, { kind: "dropColumns", table: "t", paths: ["s.x"] }]])(
  "step %# survives JSON and compiles to its action",
  (step, action) => {
    expect(parseStep(JSON.parse(JSON.stringify(step)))).toEqual({ step });
    expect(compileStep(step)).toEqual([action]);
  },
);

test.each<[object, string]>([
  [{ table: "" }, "table must be the name of a table"],
  [{ path: "" }, "path must be the path of a column"],
  [{ cascade: true }, "holds an unknown key cascade"],
])("a step with %j is refused: %s", (change, problem) => {
  expect(parseStep({ ...whole, ...change })).toEqual({ problem, kind: "dropColumn" });
});
