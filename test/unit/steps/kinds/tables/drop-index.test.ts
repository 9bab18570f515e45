import { expect, test } from "vitest";
import { compileStep, parseStep } from "../../../../../src/steps/registry.ts";
import { dropIndex } from "../../../../../src/steps/index.ts";

const whole = dropIndex("t", "id_idx");

test.each([[whole, { kind: "dropIndex", table: "t", name: "id_idx" }]])(
  "step %# survives JSON and compiles to its action",
  (step, action) => {
    expect(parseStep(JSON.parse(JSON.stringify(step)))).toEqual({ step });
    expect(compileStep(step)).toEqual([action]);
  },
);

test.each<[object, string]>([
  [{ table: 5 }, "table must be the name of a table"],
  [{ name: "" }, "name must be the name of an index"],
  [{ name: ".." }, "name can't be . or .., which lead elsewhere in an address"],
  [{ path: "id" }, "holds an unknown key path"],
])("a step with %j is refused: %s", (change, problem) => {
  expect(parseStep({ ...whole, ...change })).toEqual({ problem, kind: "dropIndex" });
});
