import { expect, test } from "vitest";
import { isAtRest, sameRecord, withoutAnswer, type LedgerHead } from "../../../../src/ledger/journal/journal.ts";

const head: LedgerHead = { epoch: 3, number: 2, event: "released", by: "someone", applied: "hash" };

test.each<[boolean, string, Partial<LedgerHead>]>([
  [true, "was released", {}],
  [false, "was released with a migration half-done", { step: 1 }],
  [false, "has a migration next", { next: 4 }],
  [true, "says applied", { event: "applied", step: 2 }],
  [true, "says baselined", { event: "baselined", step: 0 }],
  [true, "says reverted", { event: "reverted", step: 2 }],
  [false, "says reverting", { event: "reverting", step: 2 }],
  [false, "says advanced", { event: "advanced", step: 1 }],
  [false, "says failed", { event: "failed", step: 1 }],
  [false, "says applied, and has a migration next", { event: "applied", step: 2, next: 4 }],
])("it is %s that a ledger is at rest whose newest record %s", (isSo, _, change) => {
  expect(isAtRest({ ...head, ...change })).toBe(isSo);
});

test("a record is the same by its place, and none is the same as none", () => {
  expect(sameRecord(head, { ...head, by: "another" })).toBe(true);
  expect(sameRecord(head, { ...head, number: 3 })).toBe(false);
  expect(sameRecord(head, { ...head, epoch: 4 })).toBe(false);
  expect(sameRecord(head, undefined)).toBe(false);
  expect(sameRecord(undefined, undefined)).toBe(true);
});

test("a newest record says what is applied unless a late call is recorded", () => {
  expect(withoutAnswer(head, false).applied).toBe("hash");
  expect(withoutAnswer(head, true)).toEqual({ ...head, applied: "" });
});
