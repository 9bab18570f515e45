import { expect, test } from "vitest";
import { afterProblems } from "../../../../src/features/shared/check-after.ts";

const migrations = (...says: readonly (string | undefined)[]) =>
  says.map((after, index) => ({ version: 2 * index + 1, file: `000${2 * index + 1}_x.ts`, after }));

test("migrations may say the one before them, or nothing", () => {
  expect(afterProblems(migrations("0000", "0001", undefined, "0005"))).toEqual([]);
});

test("one that says another is told which stands before it", () => {
  expect(afterProblems(migrations("0001", undefined, "0002")).map(({ message }) => message)).toEqual([
    '0001_x.ts has after("0001"), but no migration stands before it; write after("0000", …)',
    '0005_x.ts has after("0002"), but 0003_x.ts stands before it; write after("0003", …)',
  ]);
});
