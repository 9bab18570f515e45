import * as fc from "../../../support/fast-check.ts";
import { expect, test } from "vitest";
import { appliedHash, type AppliedEntry } from "../../../../src/ledger/state/applied-hash.ts";

const anEntry = fc.record({ version: fc.integer({ min: 1, max: 12 }), textHash: fc.constantFrom("a", "b", "c") });

/** The hash of what is applied after these events, made in one go. */
function fromScratch(events: readonly AppliedEntry[]): string {
  const last = new Map(events.map((event) => [event.version, event]));
  return appliedHash([...last.values()].toSorted((one, other) => one.version - other.version)).value;
}

test("entries added one by one, in any order and again, hash as if read in one go", () => {
  fc.assert(
    fc.property(fc.array(anEntry, { maxLength: 20 }), (events) => {
      const grown = events.reduce((hash, event) => hash.with([event]), appliedHash([]));
      expect(grown.value).toBe(fromScratch(events));
    }),
  );
});

test("entries added many at a time hash as if read in one go", () => {
  fc.assert(
    fc.property(fc.array(fc.array(anEntry, { maxLength: 5 }), { maxLength: 6 }), (writes) => {
      const grown = writes.reduce((hash, entries) => hash.with(entries), appliedHash([]));
      expect(grown.value).toBe(fromScratch(writes.flat()));
    }),
  );
});

test("hashes that branch off one another anywhere never see each other's entries", () => {
  const steps = fc.array(fc.record({ from: fc.nat(), entry: anEntry }), { maxLength: 20 });
  fc.assert(
    fc.property(steps, (branches) => {
      const made = [{ hash: appliedHash([]), events: [] as readonly AppliedEntry[] }];
      for (const { from, entry } of branches) {
        const { hash, events } = made[from % made.length]!;
        made.push({ hash: hash.with([entry]), events: [...events, entry] });
      }
      for (const { hash, events } of made) expect(hash.value).toBe(fromScratch(events));
    }),
  );
});

test("every entry, its version and its text count", () => {
  const values = [
    appliedHash([]),
    appliedHash([{ version: 1, textHash: "a" }]),
    appliedHash([{ version: 2, textHash: "a" }]),
    appliedHash([{ version: 1, textHash: "b" }]),
    appliedHash([
      { version: 1, textHash: "a" },
      { version: 2, textHash: "a" },
    ]),
  ].map(({ value }) => value);
  expect(new Set(values).size).toBe(values.length);
});

test("the entries that a hash was made of stay as they were", () => {
  const entries = [{ version: 1, textHash: "a" }];
  appliedHash(entries).with([{ version: 2, textHash: "b" }]);
  expect(entries).toEqual([{ version: 1, textHash: "a" }]);
});
