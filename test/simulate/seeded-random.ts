/** Chance that begins with a seed: the same seed draws the same numbers. */

export interface Chance {
  /** From 0 up to 1. */
  next(): number;
  /** A whole number from 0 up to, and without, `below`. */
  below(below: number): number;
  between(least: number, most: number): number;
  happens(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
}

/**
 * Numbers of its own for one purpose, so that another purpose draws as it would without this one. The seed is hashed: the generator
 * is linear, and seeds that differ by a fixed pattern draw numbers that do too.
 */
export function chanceFor(purpose: string, seed: number): Chance {
  let hash = 0x811c_9dc5;
  for (const character of `${purpose} ${seed}`) {
    hash = Math.imul(hash ^ character.charCodeAt(0), 0x0100_0193);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return chanceOf(hash ^ (hash >>> 16));
}

/** Marsaglia's xorwow generator, whose state is the seed after a hash. */
export function chanceOf(seed: number): Chance {
  let [x, y, z, w, v, counter] = [seed, seed ^ 0x9e3779b9, seed ^ 0x243f6a88, 0x85a308d3, 0x13198a2e, seed >>> 16];
  const next = () => {
    const mixed = x ^ (x >>> 2);
    [x, y, z, w] = [y, z, w, v];
    v = v ^ (v << 4) ^ (mixed ^ (mixed << 1));
    counter = (counter + 362_437) | 0;
    return ((v + counter) >>> 0) / 2 ** 32;
  };
  // Seeds that are near to one another begin with numbers that are.
  for (let skipped = 0; skipped < 16; skipped++) next();
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    next,
    below,
    between: (least, most) => least + next() * (most - least),
    happens: (probability) => probability > 0 && next() < probability,
    pick: (items) => items[below(items.length)]!,
  };
}
