import { expect, test } from "vitest";
import { howToFix } from "../../../../src/plan/history/table-drift.ts";

test("tables that are gone, foreign or changed are named with what to do about them", () => {
  const of = (kind: "gone" | "foreign" | "changed", table: string) => ({ table, kind, differences: [] });
  expect(howToFix([of("gone", "a")])).toBe("bring table a back from a backup");
  expect(howToFix([of("gone", "a"), of("gone", "b"), of("changed", "c")])).toBe(
    "bring tables a and b back from a backup; fix the rest by hand",
  );
  expect(howToFix([of("foreign", "a")])).toBe("drop table a if it is not needed, or remove the step that creates it");
  expect(howToFix([of("foreign", "a"), of("foreign", "b")])).toBe(
    "drop tables a and b if they are not needed, or remove the steps that create them",
  );
  expect(howToFix([of("changed", "a")])).toBe("fix that by hand");
});
