/** What the drawing of queries is made of, besides chance itself. */
import type { Chance } from "../simulate/seeded-random.ts";

export function maybe<Value>(chance: Chance, probability: number, draw: () => Value): Value | undefined {
  return chance.happens(probability) ? draw() : undefined;
}

/** Different ones, in any order. */
export function some<Item>(chance: Chance, count: number, items: readonly Item[]): readonly Item[] {
  const left = [...items];
  return Array.from({ length: Math.min(count, left.length) }, () => left.splice(chance.below(left.length), 1)[0]!);
}
