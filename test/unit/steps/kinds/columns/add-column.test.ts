import { expect, test } from "vitest";
import { int32, utf8 } from "../../../../../src/schema/declare/type-builders.ts";
import { compileStep, parseStep } from "../../../../../src/steps/registry.ts";
import { addColumn } from "../../../../../src/steps/index.ts";

const whole = addColumn("t", "n", int32().notNull(), { as: "length(body)" });

test.each([
  [
    addColumn("t", "n", utf8()),
    { kind: "addColumns", table: "t", columns: [{ name: "n", type: { kind: "utf8" }, nullable: true }] },
  ],
  [
    whole,
    {
      kind: "addColumns",
      table: "t",
      columns: [{ name: "n", type: { kind: "int32" }, nullable: false, as: "length(body)" }],
    },
  ],
  [
    addColumn("t", "s.x", utf8()),
    { kind: "addField", table: "t", path: "s.x", type: { kind: "utf8" }, nullable: true, as: undefined },
  ],
])("step %# survives JSON and compiles to its action", (step, action) => {
  expect(parseStep(JSON.parse(JSON.stringify(step)))).toEqual({ step });
  expect(compileStep(step)).toEqual([action]);
});

test.each<[object, string]>([
  [{ name: "" }, "name must be the name of a column"],
  [{ type: "int32" }, "type must be a type such as int64() or utf8()"],
  [{ nullable: undefined }, "nullable must be a type such as int64() or utf8()"],
  [{ as: "" }, "as must be an SQL expression"],
  [{ default: 1 }, "holds an unknown key default"],
])("a step with %j is refused: %s", (change, problem) => {
  expect(parseStep({ ...whole, ...change })).toEqual({ problem, kind: "addColumn" });
});
