import { expect, test } from "vitest";
import { compileStep, parseStep } from "../../../../../src/steps/registry.ts";
import { execute } from "../../../../../src/steps/index.ts";

const whole = execute("t", { update: { a: "1" }, where: "a is null" });

test.each([
  [execute("t", { update: { a: "1" } }), { kind: "updateRows", table: "t", set: { a: "1" } }],
  [whole, { kind: "updateRows", table: "t", set: { a: "1" }, where: "a is null" }],
  [execute("t", { delete: "a = 1" }), { kind: "deleteRows", table: "t", where: "a = 1" }],
])("step %# survives JSON and compiles to its action", (step, action) => {
  expect(parseStep(JSON.parse(JSON.stringify(step)))).toEqual({ step });
  expect(compileStep(step)).toEqual([action]);
});

test.each<[object, string]>([
  [{ table: "" }, "table must be the name of a table"],
  [
    { change: "delete from t" },
    'change must be { update: { column: "expression" }, where: "predicate" } or { delete: "predicate" }',
  ],
  [{ change: { update: {} } }, "change.update must set at least one column"],
])("a step with %j is refused: %s", (change, problem) => {
  expect(parseStep({ ...whole, ...change })).toEqual({ problem, kind: "execute" });
});
