import { expect, test } from "vitest";
import { int8, int64, list, struct, utf8, vector } from "../../../../../src/schema/declare/type-builders.ts";
import type { ColumnType } from "../../../../../src/schema/typed/shape.ts";
import { compileStep, parseStep, type Step } from "../../../../../src/steps/registry.ts";
import { createTable } from "../../../../../src/steps/index.ts";

const step = createTable("documents", { id: int64().notNull(), source: struct({ url: utf8() }), embedding: vector(4) });

const columns = [
  { name: "id", type: { kind: "int64" }, nullable: false },
  {
    name: "source",
    type: { kind: "struct", fields: [{ name: "url", type: { kind: "utf8" }, nullable: true }] },
    nullable: true,
  },
  {
    name: "embedding",
    type: { kind: "fixedSizeList", item: { name: "item", type: { kind: "float32" }, nullable: true }, length: 4 },
    nullable: true,
  },
];

test("the builder makes plain data", () => {
  expect(step).toEqual({ kind: "createTable", table: "documents", columns });
});

test("the step survives JSON and is taken as it is", () => {
  expect(parseStep(JSON.parse(JSON.stringify(step)))).toEqual({ step });
});

test("it compiles to one createTable action", () => {
  expect(compileStep(step)).toEqual([{ kind: "createTable", table: "documents", columns }]);
});

test("columns keep the order in which they were written", () => {
  expect(createTable("t", { b: int8(), a: int8() }).columns.map(({ name }) => name)).toEqual(["b", "a"]);
});

const aType = "must be a type such as int64() or utf8()";

// As JavaScript may call it, which no compiler checks.
const build = createTable as (table: unknown, columns: unknown) => Step;

test.each<[string, Step, string]>([
  ["a table without a name", build("", { id: int8() }), "table must be the name of a table"],
  ["a table that is a number", build(5, { id: int8() }), "table must be the name of a table"],
  ["no columns", build("t", {}), "columns must have at least one column"],
  ["columns that are null", build("t", null), "columns must be an object of columns"],
  ["columns that are missing", build("t", undefined), "columns must be an object of columns"],
  ["columns that are a text", build("t", "id"), "columns must be an object of columns"],
  ["a builder that was not called", build("t", { id: int8 }), `columns.id.type ${aType}`],
  ["a column that is a text", build("t", { id: "int8" }), `columns.id.type ${aType}`],
  ["a column that is null", build("t", { id: null }), `columns.id.type ${aType}`],
  [
    "a nested column that is null",
    build("t", { s: struct({ x: null as unknown as ColumnType }) }),
    `columns.s.type.fields.x.type ${aType}`,
  ],
  [
    "a list of nothing",
    build("t", { l: list(undefined as unknown as ColumnType) }),
    `columns.l.type.item.type ${aType}`,
  ],
  ["a vector of no length", build("t", { v: vector(0) }), "columns.v.type.length must be at least 1"],
])("refused: %s", (_, step, problem) => {
  expect(parseStep(step)).toEqual({ problem, kind: "createTable" });
});

test("an array is no object of columns", () => {
  expect(parseStep(build("t", [int8(), utf8()]))).toEqual({
    problem: "columns must be an object of columns",
    kind: "createTable",
  });
});

test("a key that the step does not have is refused", () => {
  expect(parseStep({ ...step, ifNotExists: true })).toEqual({
    problem: "holds an unknown key ifNotExists",
    kind: "createTable",
  });
});
