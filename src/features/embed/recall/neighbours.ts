/** How many of the true neighbours of a vector a search has found. Pure. */
import type { RowValue } from "../../../schema/row-values.ts";

/** The vector of a row, or those of a row with a list of vectors. */
export type Vectors = readonly (readonly number[])[];

export function vectorsOf(value: RowValue): Vectors {
  const items = value as readonly RowValue[];
  const isList = items.every((item) => typeof item === "object" && item !== null);
  return isList ? (items as Vectors) : [items as readonly number[]];
}

/** Whether there is a distance to these vectors: the cosine of a vector of zeros is undefined. */
export function haveNeighbours(vectors: Vectors, distance: string): boolean {
  const isUsable = (vector: readonly number[]) =>
    vector.every((item) => Number.isFinite(item)) && (distance !== "cosine" || vector.some((item) => item !== 0));
  return vectors.length > 0 && vectors.every(isUsable);
}

export interface Searched {
  readonly query: Vectors;
  readonly distance: string;
  /** How many neighbours are wanted. */
  readonly k: number;
  /** The nearest k + 1 rows, of which one may be the row of the query itself. */
  readonly exact: readonly Vectors[];
  readonly found: readonly Vectors[];
}

/**
 * The share of the k true neighbours that were found; undefined if there is none. Of rows at the same distance, each is as
 * good as the others. The row of the query itself does not count, because an index finds it most easily.
 */
export function recallOf({ query, distance, k, exact, found }: Searched): number | undefined {
  const between = distances[distance as keyof typeof distances];
  const distancesOf = (rows: readonly Vectors[]) =>
    withoutQuery(rows, query)
      .slice(0, k)
      .map((row) => distanceTo(row, query, between));
  const wanted = distancesOf(exact);
  if (wanted.length === 0) return undefined;
  const furthest = Math.max(...wanted);
  return distancesOf(found).filter((one) => one <= furthest).length / wanted.length;
}

function withoutQuery(rows: readonly Vectors[], query: Vectors): readonly Vectors[] {
  const own = rows.findIndex((row) => row.length === query.length && row.every((one, at) => isEqual(one, query[at]!)));
  return own === -1 ? rows : rows.toSpliced(own, 1);
}

function isEqual(one: readonly number[], other: readonly number[]): boolean {
  return one.every((item, at) => item === other[at]);
}

type Distance = (one: readonly number[], other: readonly number[]) => number;

/** As the engine does: each vector of the query counts with the nearest vector of the row. */
function distanceTo(row: Vectors, query: Vectors, between: Distance): number {
  return query.reduce((sum, one) => sum + Math.min(...row.map((other) => between(one, other))), 0);
}

const dot: Distance = (one, other) => one.reduce((sum, item, at) => sum + item * other[at]!, 0);

const distances = {
  l2: (one, other) => one.reduce((sum, item, at) => sum + (item - other[at]!) ** 2, 0),
  dot: (one, other) => -dot(one, other),
  cosine: (one, other) => 1 - dot(one, other) / Math.sqrt(dot(one, one) * dot(other, other)),
  hamming: (one, other) => one.reduce((sum, item, at) => sum + ones(item ^ other[at]!), 0),
} satisfies Record<string, Distance>;

/** The bits that are 1. */
function ones(byte: number): number {
  return byte === 0 ? 0 : (byte & 1) + ones(byte >> 1);
}
