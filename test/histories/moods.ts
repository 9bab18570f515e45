/** How an application writes for a while. */
import type { Chance } from "../simulate/seeded-random.ts";
import type { WriteKind } from "./write.ts";

export interface Mood {
  /** How much of all writes each kind is. */
  readonly kinds: Readonly<Partial<Record<WriteKind, number>>>;
  /** The longest pause between two writes of one writer, in milliseconds. */
  readonly pause: number;
}

/** How much of all writes each kind is, where there are all. */
const weights: Readonly<Record<WriteKind, number>> = {
  append: 5,
  update: 4,
  upsert: 4,
  put: 1,
  delete: 2,
  optimize: 1.5,
  metadata: 0.7,
  recreate: 0.06,
};

/** Of all kinds, or of one. */
export function moodOf(chance: Chance, only: WriteKind | undefined): Mood {
  return { kinds: only === undefined ? weights : { [only]: 1 }, pause: chance.pick([0, 2, 6]) };
}

export function aKind(chance: Chance): WriteKind {
  return chance.pick(["append", "update", "upsert", "upsert", "put", "delete", "optimize"]);
}
