import { expect, test } from "vitest";
import { compileStep, parseStep } from "../../../../../src/steps/registry.ts";
import { insertRows } from "../../../../../src/steps/index.ts";

const whole = insertRows("t", [{ id: 1, tags: ["a", null] }], { key: "id" });

test.each([[whole, { kind: "insertRows", table: "t", rows: [{ id: 1, tags: ["a", null] }], key: "id" }]])(
  "step %# survives JSON and compiles to its action",
  (step, action) => {
    expect(parseStep(JSON.parse(JSON.stringify(step)))).toEqual({ step });
    expect(compileStep(step)).toEqual([action]);
  },
);

test.each<[object, string]>([
  [{ rows: [] }, "rows must have at least one row"],
  [{ rows: [1] }, "rows[0] must be an object of values"],
  [{ rows: {} }, "rows must be a list of rows"],
  [{ key: undefined }, "key must be the name of the column that tells rows apart"],
  [{ update: true }, "holds an unknown key update"],
])("a step with %j is refused: %s", (change, problem) => {
  expect(parseStep({ ...whole, ...change })).toEqual({ problem, kind: "insertRows" });
});
