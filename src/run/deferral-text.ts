import { count } from "../errors/migrate-error.ts";
import type { DeferredIndex } from "../schema/deferred-index.ts";

/** A deferred index as it is reported. */
export interface Deferral {
  readonly table: string;
  readonly index: string;
  /** Its kind, such as `ivfPq`. */
  readonly kind: string;
  /** How many vectors its table holds, of the `needed` ones. */
  readonly vectors: number;
  readonly needed: number;
}

export function deferralOf({ table, name, index: { kind }, vectors, needed }: DeferredIndex): Deferral {
  return { table, index: name, kind, vectors, needed };
}

/** The index and its table. */
export function indexWords({ table, index }: Pick<Deferral, "index" | "table">): string {
  return `${index} of ${table}`;
}

/** Why an index is deferred, and when it is built. */
export function deferralText({ table, index, kind, vectors, needed }: Deferral): string {
  const held = count(vectors, "vector");
  return `index ${index} is deferred: ${table} holds ${held} for it, and ${kind} needs at least ${needed}; migrate up builds it once there are enough`;
}
