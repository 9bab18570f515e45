import { expect, test } from "vitest";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import type { LedgerState } from "../../../../src/ledger/state/ledger-state.ts";
import type { LedgerEvent, LedgerRecord } from "../../../../src/ledger/state/record.ts";
import { checkNothingHalfDone, orderBack, type BackChoice } from "../../../../src/plan/history/select-rollback.ts";

const who = { at: 0, by: "ann", run: "run", tool: "test", applied: "", previous: "" };

/** A ledger in which these events happened to migrations of two actions. */
function aLedger(...said: readonly (readonly [LedgerEvent, version: number, step?: number])[]): LedgerState {
  const records = said.map(([event, version, step = 2], index): LedgerRecord => {
    const facts = { version, name: `m${version}`, step, total: 2, checksum: "", steps: [], textHash: "" };
    return { ...who, epoch: 1, number: index + 1, event, ...facts };
  });
  return foldLedger([{ ...who, epoch: 1, number: 0, event: "taken" }, ...records]);
}

const files = [1, 2, 3, 4].map((version) => {
  const file = `000${version}_m${version}.ts`;
  return { version, name: `m${version}`, file, path: `/${file}`, textHash: "" };
});
const applied = (...versions: readonly number[]) => versions.map((version) => ["applied", version] as const);
const three = aLedger(...applied(1, 2, 3));

test.each<{ why: string; state: LedgerState; choice: BackChoice; back: readonly number[] }>([
  { why: "the last one", state: three, choice: {}, back: [3] },
  { why: "so many", state: three, choice: { steps: 2 }, back: [3, 2] },
  { why: "more than there are", state: three, choice: { steps: 9 }, back: [3, 2, 1] },
  { why: "down to a number", state: three, choice: { to: 1 }, back: [3, 2] },
  { why: "down to one that is pending", state: three, choice: { to: 4 }, back: [] },
  { why: "all", state: three, choice: { to: 0 }, back: [3, 2, 1] },
  { why: "nothing where nothing ran", state: aLedger(), choice: {}, back: [] },
  { why: "what ran last, whatever its number", state: aLedger(...applied(1, 3, 2)), choice: {}, back: [2] },
  { why: "what failed half-way", state: aLedger(...applied(1), ["failed", 2, 1]), choice: {}, back: [2] },
  { why: "not what failed before it began", state: aLedger(...applied(1), ["failed", 2, 0]), choice: {}, back: [1] },
  {
    why: "what is being rolled back, though it is not chosen",
    state: aLedger(...applied(1, 2), ["reverting", 2, 1]),
    choice: { to: 2 },
    back: [2],
  },
])("rolled back is $why", ({ state, choice, back }) => {
  expect(orderBack(state, files, choice).map(({ version }) => version)).toEqual(back);
});

test("down to 0 leaves a migration that has that number", () => {
  const withZero = [{ ...files[0]!, version: 0 }, ...files];
  const back = orderBack(aLedger(...applied(0, 1)), withZero, { to: 0 });
  expect(back.map(({ version }) => version)).toEqual([1]);
});

test("what is to stay and ran after what is rolled back has to go first", () => {
  expect(() => orderBack(aLedger(...applied(1, 3, 2)), files, { to: 2 })).toThrow(
    "0002_m2 ran after 0003_m3, so it must be rolled back before it; run migrate down --steps 2, then migrate up --to 2, which applies 0002_m2 again",
  );
});

test("the commands that lead there instead of a refused --to are given in order, and roll back all that was chosen", () => {
  const five = [...files, ...[4, 5].map((version) => ({ ...files[0]!, version, name: `m${version}` }))];
  expect(() => orderBack(aLedger(...applied(1, 3, 5, 4, 2)), five, { to: 3 })).toThrow(
    "run migrate down --steps 3, then migrate up --to 3 --allow-out-of-order, which applies 0002_m2 again",
  );
});

test("down to what is no migration is wrong usage", () => {
  expect(() => orderBack(three, files, { to: 9 })).toThrow("--to 0009: there is no such migration");
});

const describing = { describes: true };
test.each([
  { why: "one that is half-done may have run further", state: aLedger(["failed", 2, 1]), doubt: [2], on: describing },
  { why: "one that is not known may have run, blindly", state: three, doubt: [4], on: { describes: false } },
])("nothing is rolled back while $why", ({ state, doubt, on }) => {
  expect(() =>
    checkNothingHalfDone(state, { inDoubt: new Set(doubt), group: new Set(), stopped: new Set() }, on),
  ).toThrow(/^000\d.* may have run further than is recorded/);
});

test.each([
  { why: "what is not known", state: three, doubt: [4] },
  { why: "what is being rolled back", state: aLedger(...applied(1), ["reverting", 1, 1]), doubt: [1] },
  { why: "what is applied", state: three, doubt: [3] },
])("where tables can be looked at, a doubt about $why stops nothing", ({ state, doubt }) => {
  expect(() =>
    checkNothingHalfDone(state, { inDoubt: new Set(doubt), group: new Set(), stopped: new Set() }, describing),
  ).not.toThrow();
});
