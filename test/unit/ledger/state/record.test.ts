import { expect, test } from "vitest";
import { byPlace, savedPlanOf, start, type LedgerRecord } from "../../../../src/ledger/state/record.ts";

const renewed: LedgerRecord = {
  epoch: 1,
  number: 1,
  event: "renewed",
  at: 0,
  by: "someone",
  run: "run",
  tool: "1.0.0",
  checksum: "hash",
  applied: "",
  previous: "",
};

test("a run says which saved plan it carries out by a renewal with its hash", () => {
  expect(savedPlanOf(renewed)).toBe("hash");
});

test.each<[string, Partial<LedgerRecord>]>([
  ["a record of a migration", { event: "applied", version: 1 }],
  ["a renewal of a migration", { version: 1 }],
  ["another event", { event: "released" }],
  ["a renewal without a hash", { checksum: undefined }],
  ["a renewal with an empty hash", { checksum: "" }],
])("%s says nothing of a saved plan", (_, change) => {
  expect(savedPlanOf({ ...renewed, ...change })).toBeUndefined();
});

test("a ledger begins before the record that takes its first epoch", () => {
  expect(byPlace(start, { epoch: 1, number: 0 })).toBeLessThan(0);
});
