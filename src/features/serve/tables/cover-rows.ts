/** Makes the indexes of a table cover rows that were written since, without the cost of a whole `optimize`. */
import { ownValue } from "../../../schema/data-type.ts";
import { isRecreatable, isVectorIndex, type TableIndex } from "../../../schema/table-index.ts";
import { writeReadably } from "../../../engine/checked-writes.ts";
import { readColumns, type EngineTable } from "../../../engine/engine.ts";
import { createIndex, optimize } from "../../../engine/indexes.ts";
import { readIndexes } from "../../../engine/read-indexes.ts";

/** How much of a table is not covered, by the index that covers least. */
export interface Coverage {
  /** From 0 up to 1. */
  readonly uncovered: number;
  /** Whether the indexes were brought up to date. */
  readonly done: boolean;
}

/** From this share of rows on, a vector index is always extended. */
const muchForVectors = 0.1;
/** `optimize` gives a vector index another part for the new rows, and every search looks into all parts. */
const mostParts = 10;

/**
 * Indexes that do not cover at least this share of the rows are brought up to date. `folder` is that of the database.
 *
 * If a vector index is among them, by `optimize`, because it takes long to train one again. It also merges files, but only
 * small ones that the same parts of indexes cover. Without vector indexes, that would be all files of a table of up to a
 * million rows, for each new row, and all versions are kept. So other indexes alone are built again, as `optimize` does
 * too. That disturbs no writer.
 */
export async function coverRows(table: EngineTable, folder: string, leastUncovered: number): Promise<Coverage> {
  const indexes = await readIndexes(table, folder);
  const behind = (await table.listIndices()).flatMap((listed) => {
    const { name, numIndexedRows = 0, numUnindexedRows = 0, numSegments = 1 } = listed;
    if (numUnindexedRows === 0) return [];
    const uncovered = numUnindexedRows / (numIndexedRows + numUnindexedRows);
    const index = ownValue(indexes, name);
    const isVector = index !== undefined && isVectorIndex(index);
    const waits = isVector && uncovered < muchForVectors && numSegments >= mostParts;
    return waits ? [] : [{ name, uncovered, again: index && !isVector && isRecreatable(index) ? index : undefined }];
  });
  const uncovered = Math.max(0, ...behind.map((one) => one.uncovered));
  const wanted = behind.filter((one) => one.uncovered >= leastUncovered);
  if (wanted.length === 0) return { uncovered, done: false };
  const others = wanted.flatMap(({ name, again }) => (again === undefined ? [] : [{ name, ...again }]));
  if (others.length === wanted.length) await rebuild(table, others);
  else await extend(table, () => rebuild(table, others));
  return { uncovered, done: true };
}

/** What the engine fails with if none of the new rows has a vector (measured: test/contract/cover-rows.test.ts). */
const noVectors = /\bivf_\d+\.lance|cannot train \d+ centroids with 0 vectors/;

/** Writers may come first each time. The indexes for which that does not matter get the rows nevertheless. */
async function extend(table: EngineTable, rebuildOthers: () => Promise<void>): Promise<void> {
  try {
    await writeReadably(table, await readColumns(table), () => optimize(table));
  } catch (error) {
    await rebuildOthers();
    if (!noVectors.test(String(error))) throw error;
  }
}

async function rebuild(
  table: EngineTable,
  indexes: readonly (TableIndex & { readonly name: string })[],
): Promise<void> {
  for (const { name, path, kind, options } of indexes) await createIndex(table, { column: path, name, kind, options });
}
