import { array, assert, boolean, integer, nat, property, record } from "fast-check";
import { expect, test } from "vitest";
import { mostPageRows } from "../../../../../src/features/embed/compute/found-rows.ts";
import { Reached } from "../../../../../src/features/embed/compute/reached.ts";
import { addressIn } from "../../../../../src/features/embed/compute/results.ts";
import { rounds } from "../../../../support/rounds.ts";

/** Adds rows of one fragment, and returns their addresses. */
function added(reached: Reached, fragment: number, count: number): readonly number[] {
  const addresses = Array.from({ length: count }, (_, row) => addressIn(fragment, row));
  for (const address of addresses) reached.add(address);
  return addresses;
}

test("a run begins with the first fragment of which rows may not be computed", () => {
  const reached = new Reached();
  expect(reached.next).toBe(0);
  const known = added(reached, 3, 2);
  expect([reached.next, reached.size]).toEqual([0, 2]);
  expect(known.every((address) => reached.has(address))).toBe(true);
  expect(reached.has(addressIn(3, 2))).toBe(false);
  reached.complete(3);
  expect([reached.next, reached.size, reached.has(known[0]!)]).toEqual([4, 0, false]);
});

test("no fragment counts as computed of which a killed run may have left rows, in whatever order it kept them", () => {
  const scene = record({
    fragments: array(integer({ min: 1, max: 30_000 }), { minLength: 1, maxLength: 60 }),
    page: integer({ min: 1, max: mostPageRows }),
    at: nat(),
    backwards: boolean(),
  });
  assert(
    property(scene, ({ fragments, page, at, backwards }) => {
      const all = fragments.flatMap((rows, fragment) =>
        Array.from({ length: rows }, (_, row) => [fragment, row] as const),
      );
      const first = at % all.length;
      const last = Math.min(first + page, all.length);
      // All of the rows before the page, and every other one of its rows, but not the first.
      const kept = all.slice(0, last).filter((_, index) => index < first || (index - first) % 2 === 1);
      const lost = all.slice(first, last).filter((_, index) => index % 2 === 0);
      const reached = new Reached();
      for (const [fragment, row] of backwards ? kept.toReversed() : kept) reached.add(addressIn(fragment, row));
      const { next } = reached;
      for (const [fragment, row] of lost) {
        expect(fragment).toBeGreaterThanOrEqual(next);
        expect(reached.has(addressIn(fragment, row))).toBe(false);
      }
      expect(reached.size).toBeLessThan(4 * mostPageRows);
    }),
    { numRuns: rounds(8, 20) },
  );
});

test("what is remembered does not grow with the table", () => {
  const reached = new Reached();
  for (let fragment = 0; fragment < 100; fragment++) added(reached, fragment, 10_000);
  expect(reached.next).toBe(90);
  expect(reached.size).toBe(2 * mostPageRows);
});
