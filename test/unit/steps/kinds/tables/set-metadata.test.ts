import { expect, test } from "vitest";
import { compileStep, parseStep } from "../../../../../src/steps/registry.ts";
import { setMetadata } from "../../../../../src/steps/index.ts";

const whole = setMetadata("t", "s.x", { unit: "EUR", old: null });

test.each([
  [whole, { kind: "setMetadata", table: "t", updates: [{ path: "s.x", metadata: { unit: "EUR", old: null } }] }],
])("step %# survives JSON and compiles to its action", (step, action) => {
  expect(parseStep(JSON.parse(JSON.stringify(step)))).toEqual({ step });
  expect(compileStep(step)).toEqual([action]);
});

test.each<[object, string]>([
  [{ path: "" }, "path has to be the path of a column"],
  [{ metadata: {} }, "metadata has to have at least one key"],
  [{ metadata: { a: 1 } }, "metadata.a has to be text or null"],
  [{ metadata: "a" }, "metadata has to be an object of texts and nulls"],
])("a step with %j is refused: %s", (change, problem) => {
  expect(parseStep({ ...whole, ...change })).toEqual({ problem, kind: "setMetadata" });
});
