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
  [{ path: "" }, "path must be the path of a column"],
  [{ metadata: {} }, "metadata must have at least one key"],
  [{ metadata: { a: 1 } }, "metadata.a must be text or null"],
  [{ metadata: "a" }, "metadata must be an object of texts and nulls"],
])("a step with %j is refused: %s", (change, problem) => {
  expect(parseStep({ ...whole, ...change })).toEqual({ problem, kind: "setMetadata" });
});
