import { expect, test } from "vitest";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import type { LedgerRecord } from "../../../../src/ledger/state/record.ts";
import { doubtWords, holderWords, isSilent } from "../../../../src/run/lease/describe-holder.ts";
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

const midway = { step: "hash", commit: 1, indexes: {}, metadata: {} };
const begun = { version: 2, name: "b", step: 1, total: 2, next: 2 };
const taken = { ...who, at: 1_000, epoch: 1, number: 0, event: "taken", lease: 30_000, next: 2 } as const;
const noted = { ...who, ...begun, at: 2_000, epoch: 1, number: 1, event: "advanced", midway } as const;
const failed = { ...who, ...begun, at: 3_000, epoch: 1, number: 2, event: "failed", detail: "no key" } as const;
const released = { ...who, at: 3_000, epoch: 1, number: 3, event: "released", next: 2 } as const;

test("a migration of which the ledger records that it failed between two commits is not called unknown", () => {
  const words = (...records: LedgerRecord[]) => doubtWords(foldLedger(records), "other", at(99_000));
  expect(words(taken, noted, failed, released)).toEqual([
    "0002_b stopped in the middle of an action; the next migrate up finds out how far it got, and resumes it",
  ]);
  const unknown = "0002_b may have run further than is recorded; the next migrate up finds out and resumes it";
  expect(words(taken, noted), "killed").toEqual([unknown]);
  const again = { ...taken, epoch: 2, at: 9_000, run: "second" };
  expect(words(taken, noted, failed, released, again), "killed when it was resumed").toEqual([unknown]);
});
