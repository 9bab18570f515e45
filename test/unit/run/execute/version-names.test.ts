import { expect, test } from "vitest";
import { isBefore } from "../../../../src/run/execute/version-names.ts";

test("a version counts as the one before a migration under any of the names that its tables had", () => {
  const tables = { t: [5, 6], u: [1, 2] } as const;
  expect([1, 2, 5, 6].filter((version) => isBefore(version, tables))).toEqual([1, 5]);
});
