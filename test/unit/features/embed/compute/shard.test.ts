import { expect, test } from "vitest";
import { cut, memberOf, type RowRange } from "../../../../../src/features/embed/compute/shard.ts";
import * as fc from "../../../../support/fast-check.ts";

const shardsOf = (of: number) => Array.from({ length: of }, (_, at) => memberOf({ index: at + 1, of }));
const place = fc.tuple(fc.nat(3), fc.oneof(fc.nat(100), fc.nat(100_000), fc.nat(1_000_000)));

test("every row of any fragment belongs to exactly one of any number of shards, in whatever order they are looked at", () => {
  const drawn = fc.record({ of: fc.integer({ min: 1, max: 50 }), places: fc.array(place) });
  const check = ({ of, places }: { of: number; places: readonly (readonly [number, number])[] }) => {
    const shards = shardsOf(of);
    for (const [fragment, at] of places) {
      const owners = shards.filter((isOwn) => isOwn(fragment, at));
      expect(owners).toHaveLength(1);
      const again = memberOf({ index: shards.indexOf(owners[0]!) + 1, of });
      expect(again(fragment, at)).toBe(true);
    }
  };
  fc.assert(fc.property(drawn, check));
});

/** How many of these rows each shard has. */
function sizes(of: number, fragments: readonly number[]): readonly number[] {
  return shardsOf(of).map((isOwn) =>
    fragments.reduce(
      (sum, rows, fragment) =>
        sum + Array.from({ length: rows }, (_, at) => isOwn(fragment, at)).filter(Boolean).length,
      0,
    ),
  );
}

test.each([
  ["a small fragment", 4, [200], 0.4],
  ["one fragment", 4, [25_000], 0.28],
  ["a large fragment", 4, [1_000_000], 0.255],
  ["many fragments of a row", 4, Array.from({ length: 400 }, () => 1), 0.25],
  ["fragments of equal size", 4, Array.from({ length: 12 }, () => 25_000), 0.255],
  ["more shards than slices", 16, [100], 0.16],
  ["many shards", 100, [50_000], 0.0125],
])("%s: no one of %i shards has many more rows than the others", (_, of, fragments, most) => {
  const rows = fragments.reduce((sum, one) => sum + one, 0);
  expect(Math.max(...sizes(of, fragments)) / rows).toBeLessThanOrEqual(most);
});

test("a shard has few runs of rows in a fragment, which are read faster than many", () => {
  const isOwn = memberOf({ index: 2, of: 4 });
  let runs = 0;
  for (let at = 1; at < 25_000; at++) if (isOwn(3, at) && !isOwn(3, at - 1)) runs++;
  expect(runs).toBeLessThan(50);
});

test("ranges are cut where as many rows are taken as are wanted", () => {
  const ranges: readonly RowRange[] = [
    [0, 10],
    [20, 25],
  ];
  const taken = (rows: number) => cut(ranges, rows);
  expect(taken(4)).toEqual([
    [[0, 4]],
    [
      [4, 10],
      [20, 25],
    ],
  ]);
  expect(taken(10)).toEqual([[[0, 10]], [[20, 25]]]);
  expect(taken(12)).toEqual([
    [
      [0, 10],
      [20, 22],
    ],
    [[22, 25]],
  ]);
  expect(taken(100)).toEqual([ranges, []]);
});
