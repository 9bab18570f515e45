import { expect, test } from "vitest";
import { compileStep, parseStep } from "../../../../../src/steps/registry.ts";
import { renameColumn } from "../../../../../src/steps/index.ts";

const step = renameColumn("documents", "source.fetched", "fetched_at");

test("the builder makes plain data", () => {
  expect(step).toEqual({ kind: "renameColumn", table: "documents", path: "source.fetched", name: "fetched_at" });
});

test("the step survives JSON and is taken as it is", () => {
  expect(parseStep(JSON.parse(JSON.stringify(step)))).toEqual({ step });
});

test("it compiles to one alteration", () => {
  expect(compileStep(step)).toEqual([
    { kind: "alterColumns", table: "documents", alterations: [{ path: "source.fetched", rename: "fetched_at" }] },
  ]);
});

test.each([
  [{ table: "" }, "table must be the name of a table"],
  [{ table: undefined }, "table must be the name of a table"],
  [{ path: "" }, "path must be the path of a column"],
  [{ path: ["source", "fetched"] }, "path must be the path of a column"],
  [{ name: undefined }, "name must be the new name"],
  [{ name: 5 }, "name must be the new name"],
  [{ nullable: true }, "holds an unknown key nullable"],
])("a step with %o is refused", (change, problem) => {
  expect(parseStep({ ...step, ...change })).toEqual({ problem, kind: "renameColumn" });
});

test("which names the engine takes is for the fold to say, not for the step", () => {
  expect(parseStep(renameColumn("t", "a", "b.c"))).toEqual({
    step: { kind: "renameColumn", table: "t", path: "a", name: "b.c" },
  });
});
