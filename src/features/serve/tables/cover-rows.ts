/** Makes the indexes of a table cover rows that were written since, without the cost of a whole `optimize`. */
import { isDeepStrictEqual } from "node:util";
import { ownValue, type Column } from "../../../schema/data-type.ts";
import { columnsWithin } from "../../../schema/table.ts";
import { formatPath, parsePath } from "../../../schema/path.ts";
import { isRecreatable, isVectorIndex, type TableIndex } from "../../../schema/table-index.ts";
import { columnsAtRisk } from "../../../engine/checked-writes.ts";
import { readColumns, type EngineTable } from "../../../engine/engine.ts";
import { createIndex, optimize } from "../../../engine/indexes.ts";
import { readIndexes } from "../../../engine/read-indexes.ts";

/** How much of a table is still not covered, by the index that covers least. */
export interface Coverage {
  /** From 0 up to 1. */
  readonly uncovered: number;
  /** Whether indexes were brought up to date. */
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
 *
 * Tables are left alone in which the service may undo a write: a commit beside it would prevent that.
 */
export async function coverRows(table: EngineTable, folder: string, leastUncovered: number): Promise<Coverage> {
  if (columnsAtRisk(await readColumns(table)).length > 0) return { uncovered: 0, done: false };
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
  const wanted = behind.filter((one) => one.uncovered >= leastUncovered);
  const left = behind.filter((one) => one.uncovered < leastUncovered);
  if (wanted.length === 0) return { uncovered: mostOf(behind), done: false };
  const others = wanted.flatMap(({ name, again }) => (again === undefined ? [] : [{ name, ...again }]));
  const build = () => rebuild(table, folder, others);
  if (others.length === wanted.length) await build();
  else await extend(table, build);
  return { uncovered: mostOf(left), done: true };
}

function mostOf(indexes: readonly { readonly uncovered: number }[]): number {
  return Math.max(0, ...indexes.map((one) => one.uncovered));
}

/** What the engine fails with if none of the new rows has a vector (measured: test/contract/cover-rows.test.ts). */
const noVectors = /\bivf_\d+\.lance|cannot train \d+ centroids with 0 vectors/;

/** Writers may come first each time. The indexes for which that does not matter get the rows nevertheless. */
async function extend(table: EngineTable, rebuildOthers: () => Promise<void>): Promise<void> {
  try {
    await optimize(table);
  } catch (error) {
    await rebuildOthers();
    if (!noVectors.test(String(error))) throw error;
  }
}

type NamedIndex = TableIndex & { readonly name: string };

/**
 * Programs that do not go through the service may change indexes and columns meanwhile. An index that is no longer the same
 * is left alone, and one whose column was dropped during the build is dropped too: no query could be planned with it.
 */
async function rebuild(table: EngineTable, folder: string, indexes: readonly NamedIndex[]): Promise<void> {
  for (const { name, ...index } of indexes) {
    await table.checkoutLatest();
    if (!isDeepStrictEqual(ownValue(await readIndexes(table, folder), name), index)) continue;
    await createIndex(table, { column: index.path, name, kind: index.kind, options: index.options });
    await table.checkoutLatest();
    if (!hasColumn(await readColumns(table), index.path)) await table.dropIndex(name);
  }
}

function hasColumn(columns: readonly Column[], path: string): boolean {
  return columnsWithin(columns).some((one) => formatPath(one.path) === formatPath(parsePath(path)));
}
