import { expect, test } from "vitest";
import { importProblem } from "../../../src/migrations/evaluate.ts";

test("a name that is not defined leads to its import", () => {
  expect(importProblem(new ReferenceError("int32 is not defined"), "file:///migrations/0001_a.ts")).toBe(
    'int32 is not defined; if it is one of lance-migrate, add import { int32 } from "lance-migrate"',
  );
});
