/** Values of another realm, as those of tests under Jest. */
import { createContext, runInContext } from "node:vm";
import { expect, test } from "vitest";
import { isError, isPlainObject } from "../../../src/checks/realm.ts";
import { firstLine } from "../../../src/errors/migrate-error.ts";
import { isConflict } from "../../../src/engine/problem/engine-problem.ts";

const elsewhere = (code: string): unknown => runInContext(code, createContext({}));

test("an error is one in whichever realm it was made", () => {
  const error = elsewhere(`new TypeError("no luck")`);
  expect(error instanceof Error).toBe(false);
  expect(isError(error)).toBe(true);
  expect(firstLine(error)).toBe("no luck");
  expect(isConflict(elsewhere(`new Error("Commit conflict for version 7")`))).toBe(
    isConflict(new Error("Commit conflict for version 7")),
  );
  expect(isError({ message: "no luck" })).toBe(false);
});

test("a plain object is one in whichever realm it was made", () => {
  expect(["({ a: 1 })", "Object.create(null)"].map((code) => isPlainObject(elsewhere(code)))).toEqual([true, true]);
  expect(["[]", "new Map()", "new (class A {})()", "null"].map((code) => isPlainObject(elsewhere(code)))).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
