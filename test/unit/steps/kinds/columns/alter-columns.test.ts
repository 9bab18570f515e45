import { expect, test } from "vitest";
import { int8, int64 } from "../../../../../src/schema/declare/type-builders.ts";
import { compileStep, parseStep, type Step } from "../../../../../src/steps/registry.ts";
import { alterColumns } from "../../../../../src/steps/index.ts";

const step = alterColumns("documents", [
  { path: "a", rename: "b" },
  { path: "b", rename: "a", nullable: true },
  { path: "source.id", type: int64() },
]);

const alterations = [
  { path: "a", rename: "b" },
  { path: "b", rename: "a", nullable: true },
  { path: "source.id", type: { kind: "int64" } },
];

test("the builder makes plain data", () => {
  expect(step).toEqual({ kind: "alterColumns", table: "documents", alterations });
});

test("the step survives JSON and is taken as it is", () => {
  expect(parseStep(JSON.parse(JSON.stringify(step)))).toEqual({ step });
});

test("it compiles to one action with all alterations", () => {
  expect(compileStep(step)).toEqual([{ kind: "alterColumns", table: "documents", alterations }]);
});

// As JavaScript may call it, which no compiler checks.
const build = alterColumns as (table: unknown, alterations: unknown) => Step;

test.each<[string, Step, string]>([
  ["no changes", build("t", []), "alterations must have at least one change"],
  ["changes that are no list", build("t", { path: "a", rename: "b" }), "alterations must be a list of changes"],
  ["changes that are missing", build("t", undefined), "alterations must be a list of changes"],
  [
    "an entry that changes nothing",
    build("t", [{ path: "a" }]),
    "alterations.a must have one of rename, type and nullable",
  ],
  [
    "a second entry that changes nothing",
    build("t", [{ path: "a", rename: "b" }, { path: "c" }]),
    "alterations.c must have one of rename, type and nullable",
  ],
  ["an entry without a path", build("t", [{ rename: "b" }]), "alterations[0].path must be the path of a column"],
  ["a rename that is no text", build("t", [{ path: "a", rename: 1 }]), "alterations.a.rename must be the new name"],
  [
    "a nullable that is no boolean",
    build("t", [{ path: "a", nullable: "no" }]),
    "alterations.a.nullable must be true or false",
  ],
  [
    "a type's name",
    build("t", [{ path: "a", type: "int64" }]),
    "alterations.a.type must be a type such as int64() or utf8()",
  ],
  [
    "a type that is not null",
    build("t", [{ path: "a", type: int8().notNull() }]),
    "alterations.a.type notNull() has no place here; use setNullable in a step of its own",
  ],
  ["a misspelt change", build("t", [{ path: "a", renam: "b" }]), "alterations.a holds an unknown key renam"],
  ["a table without a name", build("", [{ path: "a", rename: "b" }]), "table must be the name of a table"],
])("refused: %s", (_, step, problem) => {
  expect(parseStep(step)).toEqual({ problem, kind: "alterColumns" });
});

test("a builder that was not called is refused, not left out", () => {
  expect(parseStep(build("t", [{ path: "a", rename: "b", type: int64 }]))).toEqual({
    problem: "alterations.a.type must be a type such as int64() or utf8()",
    kind: "alterColumns",
  });
});

test.each([null, undefined, "a", 5])("the change %j is refused, and the builder does not throw", (change) => {
  expect(parseStep(build("t", [change]))).toMatchObject({
    kind: "alterColumns",
    problem: expect.stringMatching(/^alterations\[0\] /),
  });
});
