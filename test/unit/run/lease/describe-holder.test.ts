import { expect, test } from "vitest";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import { holderWords, isSilent } from "../../../../src/run/lease/describe-holder.ts";
import type { Clock } from "../../../../src/time/clock.ts";

const who = { by: "ann", run: "run", tool: "test", applied: "", previous: "" };
const held = foldLedger([{ ...who, at: 1_000, epoch: 1, number: 0, event: "taken", lease: 30_000 }]);
const at = (wall: number) => ({ wall: () => wall }) as Clock;

test("a holder is silent once its newest record is older than its lease", () => {
  expect(isSilent(held, at(31_000))).toBe(false);
  expect(isSilent(held, at(31_001))).toBe(true);
  expect(isSilent(foldLedger([]), at(99_000))).toBe(false);
});

test("who holds the lease is reported with the time of its newest record", () => {
  expect(holderWords(held, at(6_000))).toContain("ann holds the lease, last heard of 5 seconds ago");
  expect(holderWords(held, at(241_000))).toContain("4 minutes ago by this clock: its lease has run out");
  expect(holderWords(foldLedger([]), at(6_000))).toBeUndefined();
});
