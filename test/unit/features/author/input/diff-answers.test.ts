import { expect, test } from "vitest";
import { checkTyped } from "../../../../../src/features/author/input/diff-answers.ts";
import type { DiffAnswer } from "../../../../../src/features/author/generate/diff-columns.ts";
import type { Diff } from "../../../../../src/features/author/generate/diff-tables.ts";

const stray: DiffAnswer = { table: "t", path: "a" };
const other: DiffAnswer = { table: "t", path: "b", name: "c" };
const diff: Diff = { steps: [], unsure: [], impossible: [], unused: [] };
const refused = expect.objectContaining({ details: { problem: "t.a is not gone, so there is nothing to drop" } });

test("an answer to no question is refused", () => {
  expect(() => checkTyped({ ...diff, unused: [stray] }, [stray, other])).toThrow(refused);
  expect(() => checkTyped(diff, [other])).not.toThrow();
});

test("while questions are open, an unused answer is refused only if none was used", () => {
  const open = { ...diff, unsure: [{ table: "t", path: "s", names: ["r"] }], unused: [stray] };
  expect(() => checkTyped(open, [stray])).toThrow(refused);
  expect(() => checkTyped(open, [stray, other])).not.toThrow();
});
