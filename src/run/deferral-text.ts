import { count } from "../errors/migrate-error.ts";
import type { DeferredIndex } from "../schema/deferred-index.ts";
import { valueWord } from "../schema/table-index.ts";

/** A deferred index as it is reported. */
export interface Deferral {
  readonly table: string;
  readonly index: string;
  /** Its kind, such as `ivfPq`. */
  readonly kind: string;
  /** How many vectors its table holds, counted up to `needed`; undefined if the table could not be read. */
  readonly vectors?: number | undefined;
  readonly needed: number;
  /** Why it could not be built, or why its table could not be read. */
  readonly problem?: string | undefined;
}

export function deferralOf(deferred: DeferredIndex & Pick<Deferral, "problem">): Deferral {
  const { table, name, index, vectors, needed, problem } = deferred;
  return { table, index: name, kind: index.kind, vectors, needed, ...(problem !== undefined && { problem }) };
}

/** Whether there are enough vectors, and the index could not be built. */
export function isStuck(deferral: Deferral): deferral is Deferral & { readonly problem: string } {
  return deferral.vectors !== undefined && deferral.problem !== undefined;
}

/** The index and its table. */
export function indexWords({ table, index }: Pick<Deferral, "index" | "table">): string {
  return `${index} of ${table}`;
}

/** Why an index is deferred, and when it is built. */
export function deferralText(deferral: Deferral): string {
  const { table, index, kind, vectors, needed, problem = "" } = deferral;
  if (vectors === undefined)
    return `index ${index} of ${table} may be deferred; the table could not be read: ${problem}`;
  if (isStuck(deferral))
    return `index ${index} of ${table} is missing: there are enough ${valueWord({ kind })}s, but it could not be built: ${problem}`;
  if (vectors >= needed)
    return `index ${index} is deferred: ${table} holds enough ${valueWord({ kind })}s for it; the next migrate up builds it`;
  const held = count(vectors, valueWord({ kind }));
  return `index ${index} is deferred: ${table} holds ${held} for it, and ${kind} needs at least ${needed}; migrate up builds it once there are enough`;
}
