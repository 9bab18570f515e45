import { expect, test } from "vitest";
import { howToFix } from "../../../../src/plan/history/table-drift.ts";

test("tables that are gone, foreign or changed are named with what to do about them", () => {
  const of = (kind: "gone" | "foreign" | "changed", table: string) => ({ table, kind, differences: [] });
  expect(howToFix([of("gone", "a")])).toBe("bring table a back from a backup");
  expect(howToFix([of("gone", "a"), of("gone", "b"), of("changed", "c")])).toBe(
    "bring tables a and b back from a backup; fix the rest by hand",
  );
  expect(howToFix([of("foreign", "a")])).toBe(
    "remove the step that creates table a, or let it create a table of another name",
  );
  expect(howToFix([of("foreign", "a"), of("foreign", "b")])).toBe(
    "remove the steps that create tables a and b, or let them create tables of other names",
  );
  expect(howToFix([of("changed", "a")])).toBe("fix that by hand");
  const since = { version: 17, at: undefined, isOrEarlier: false, isOrLater: false };
  expect(howToFix([{ ...of("changed", "a"), since }, of("changed", "b")])).toBe(
    "restore version 16 of a, if nothing that was written since is needed, or change it back by hand; fix the rest by hand",
  );
  expect(howToFix([{ ...of("changed", "a"), since: { ...since, isOrEarlier: true } }])).toBe("fix that by hand");
});
