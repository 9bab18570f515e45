/**
 * Parts of a table's rows that several processes compute at the same time. Where rows have addresses, a part is slices of
 * every fragment, so that a shard reads little more than its own rows. Which slices follows from their place alone: shards
 * need not agree on anything, whenever they start and whatever is written meanwhile.
 */
import { sqlPath } from "../../../schema/sql.ts";

/** One of `of` parts, from 1. */
export interface Shard {
  readonly index: number;
  readonly of: number;
}

/** Rows of a fragment: from the first one to the one before the end. */
export type RowRange = readonly [first: number, end: number];

/** How many rows a slice has: so few that shards share small tables too, and later in a fragment more, which are read faster. */
const [fewest, most] = [16, 4_096];
/** How much longer than the slices before all of them together are: only the last ones of a fragment may be divided unevenly. */
const growth = 8;

/** The slices of a fragment in order, each with the index of its shard. */
function* slicesOf(fragment: number, of: number): Generator<readonly [range: RowRange, index: number], never> {
  for (let [round, first] = [0, 0]; ; round++) {
    const rows = Math.min(most, Math.max(fewest, Math.floor(first / (growth * of))));
    for (let slice = 0; slice < of; slice++, first += rows)
      yield [[first, first + rows], ((fragment + round + slice) % of) + 1];
  }
}

/** Whether a shard computes a row. Fast for rows that follow each other. */
export function memberOf({ index, of }: Shard): (fragment: number, row: number) => boolean {
  let seen: number | undefined;
  let slices = slicesOf(0, of);
  let [[first, end], owner] = slices.next().value;
  return (fragment, row) => {
    if (fragment !== seen || row < first) {
      [seen, slices] = [fragment, slicesOf(fragment, of)];
      end = 0;
    }
    while (row >= end) [[first, end], owner] = slices.next().value;
    return owner === index;
  };
}

/** The first of these rows, and the others. */
export function cut(ranges: readonly RowRange[], rows: number): readonly [readonly RowRange[], readonly RowRange[]] {
  const taken: RowRange[] = [];
  let left = rows;
  for (const [at, [first, end]] of ranges.entries()) {
    const middle = Math.min(end, first + left);
    if (middle > first) taken.push([first, middle]);
    left -= middle - first;
    if (middle < end) return [taken, [[middle, end], ...ranges.slice(at + 1)]];
  }
  return [taken, []];
}

const digits = 6;

/** An SQL predicate for a part of the rows by their key, where rows have no addresses that last. Rows without a key are in one too. */
export function inShard({ index, of }: Shard, key: string): string {
  const hash = `md5(coalesce(cast(${sqlPath([key])} as string), ''))`;
  const bound = (number: number) =>
    `'${Math.floor((number * 16 ** digits) / of)
      .toString(16)
      .padStart(digits, "0")}'`;
  const from = `${hash} >= ${bound(index - 1)}`;
  return index === of ? from : `${from} and ${hash} < ${bound(index)}`;
}
