/** Measures the recall of a vector index: searches for vectors of the table with the index and without it. */
import { parsePath } from "../../../schema/path.ts";
import type { RowValues } from "../../../schema/row-values.ts";
import { sqlPath } from "../../../schema/sql.ts";
import type { RowAccess } from "../../../targets/contract/row-access.ts";
import type { Target } from "../../../targets/contract/target.ts";
import type { Clock } from "../../../time/clock.ts";
import type { MeasuredRecall } from "../../../run/events.ts";
import { throwIfInterrupted } from "../../../run/lease/wait-for-lease.ts";
import { haveNeighbours, recallOf, vectorsOf, type Vectors } from "./neighbours.ts";

export interface SearchedColumn {
  readonly table: string;
  readonly path: string;
  /** That of the index, with which the exact search must agree. */
  readonly distance: string;
}

export interface RecallOptions {
  /** How many neighbours are wanted. */
  readonly k: number;
  /** For how many vectors of the table, or all if it has fewer. */
  readonly sample: number;
  readonly clock: Pick<Clock, "steady">;
  readonly signal?: AbortSignal | undefined;
}

interface SearchAccess extends Pick<Target, "countRows"> {
  readonly rows: RowAccess;
}

/** Searches one at a time, so that the times are those of a search alone. Throws ERR_INTERRUPTED. */
export async function measureRecall(
  target: SearchAccess,
  column: SearchedColumn,
  { k, sample, clock, signal }: RecallOptions,
): Promise<MeasuredRecall> {
  const { distance } = column;
  const recalls: number[] = [];
  const times = { index: [] as number[], exact: [] as number[] };
  const timed = async (query: Vectors, kind: keyof typeof times) => {
    throwIfInterrupted(signal);
    const from = clock.steady();
    const found = await nearest(target.rows, column, query, { limit: k + 1, exact: kind === "exact" });
    times[kind].push(clock.steady() - from);
    return found;
  };
  for (const query of await sampleOf(target, column, sample)) {
    const found = await timed(query, "index");
    const exact = await timed(query, "exact");
    const recall = recallOf({ query, distance, k, exact, found });
    if (recall !== undefined) recalls.push(recall);
  }
  return {
    recall: recalls.length === 0 ? undefined : recalls.reduce((sum, one) => sum + one, 0) / recalls.length,
    sampled: recalls.length,
    indexMilliseconds: median(times.index),
    exactMilliseconds: median(times.exact),
  };
}

async function nearest(
  rows: RowAccess,
  { table, path, distance }: SearchedColumn,
  vectors: Vectors,
  wanted: { readonly limit: number; readonly exact: boolean },
): Promise<readonly Vectors[]> {
  // Typed arrays are no arrays in JSON.
  const query = vectors.map((vector) => [...vector]);
  const found = await rows.nearest(table, {
    select: selected(path),
    column: path,
    vectors: query,
    distance,
    ...wanted,
  });
  return found.map(vectorIn);
}

/** Vectors from all parts of the table; the same ones as long as nothing changes it. */
async function sampleOf(
  { rows, countRows }: SearchAccess,
  { table, path, distance }: SearchedColumn,
  sample: number,
): Promise<readonly Vectors[]> {
  const isPresent = `${sqlPath(parsePath(path))} IS NOT NULL`;
  const read = async (where: string, limit: number) => await rows.read(table, { select: selected(path), where, limit });
  const vectors = (await countRows?.(table, isPresent)) ?? 0;
  // Odd, because the ids of the first rows of all files are multiples of a power of two.
  const stride = Math.floor(vectors / (2 * sample)) | 1;
  const spread = stride === 1 ? [] : await read(`_rowid % ${stride} = 0 AND ${isPresent}`, 4 * sample);
  const found = spread.length < sample ? await read(isPresent, 4 * sample) : spread;
  return evenly(
    found.map(vectorIn).filter((one) => haveNeighbours(one, distance)),
    sample,
  );
}

function selected(path: string) {
  return [["vector", sqlPath(parsePath(path))]] as const;
}

function vectorIn(row: RowValues): Vectors {
  return vectorsOf(row["vector"]!);
}

function evenly<Item>(items: readonly Item[], most: number): readonly Item[] {
  if (items.length <= most) return items;
  return Array.from({ length: most }, (_, index) => items[Math.floor((index * items.length) / most)]!);
}

function median(numbers: readonly number[]): number | undefined {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)];
}
