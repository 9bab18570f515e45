import { expect, test } from "vitest";
import { int64, list, vector } from "../../../../../src/schema/declare/type-builders.ts";
import { compileStep, parseStep, type Step } from "../../../../../src/steps/registry.ts";
import { retypeColumn } from "../../../../../src/steps/index.ts";

const step = retypeColumn("documents", "ids", list(int64().notNull()));
const type = { kind: "list", item: { name: "item", type: { kind: "int64" }, nullable: false } };

test("the builder makes plain data", () => {
  expect(step).toEqual({ kind: "retypeColumn", table: "documents", path: "ids", type });
});

test("the step survives JSON and is taken as it is", () => {
  expect(parseStep(JSON.parse(JSON.stringify(step)))).toEqual({ step });
});

test("it compiles to one alteration", () => {
  expect(compileStep(step)).toEqual([
    { kind: "alterColumns", table: "documents", alterations: [{ path: "ids", type }] },
  ]);
});

// As JavaScript may call it, which no compiler checks.
const build = retypeColumn as (table: unknown, path: unknown, type: unknown) => Step;

test("a type that is not null has no place here, and the refusal tells the way out", () => {
  expect(parseStep(build("t", "a", int64().notNull()))).toEqual({
    problem: "type notNull() has no place here; use setNullable in a step of its own",
    kind: "retypeColumn",
  });
});

const aType = "type must be a type such as int64() or utf8()";

test.each<[string, unknown, string]>([
  ["no type", undefined, aType],
  ["null", null, aType],
  ["a type's name", "int64", aType],
  ["a builder that was not called", int64, aType],
  ["a wrong length", vector(-1), "type.length must be at least 1"],
])("refused: %s", (_, type, problem) => {
  expect(parseStep(build("t", "a", type))).toEqual({ problem, kind: "retypeColumn" });
});

test.each([
  [{ table: 1 }, "table must be the name of a table"],
  [{ path: null }, "path must be the path of a column"],
  [{ to: "int64" }, "holds an unknown key to"],
])("a step with %j is refused", (change, problem) => {
  expect(parseStep({ ...step, ...change })).toEqual({ problem, kind: "retypeColumn" });
});
