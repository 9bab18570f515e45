import { expect, test } from "vitest";
import { measureRecall } from "../../../../../src/features/embed/recall/measure-recall.ts";
import type { Column, DataType } from "../../../../../src/schema/data-type.ts";
import type { IndexType } from "../../../../../src/schema/table-index.ts";
import { open } from "../../../../../src/targets/lance/lance.ts";
import { systemClock as clock } from "../../../../../src/time/clock.ts";
import { temporaryFolder } from "../../../../support/project.ts";

const item: Column = { name: "item", type: { kind: "float32" }, nullable: true };
const vector: DataType = { kind: "fixedSizeList", length: 8, item };
const part: Column = { name: "v", type: vector, nullable: true };
const columns: readonly Column[] = [
  { name: "id", type: { kind: "int64" }, nullable: true },
  { name: "at", type: { kind: "struct", fields: [part] }, nullable: true },
];
const vectorOf = (id: number) => Array.from({ length: 8 }, (_, index) => Math.sin(id * (index + 1)));

/** A table whose rows were added in several parts; the first of each ten has no vector. */
async function aTarget(rows: number, index?: IndexType) {
  const target = await open({ kind: "lance", uri: temporaryFolder() }, { name: "local", folder: "/" });
  const all = Array.from({ length: rows }, (_, id) => ({ id, at: { v: id % 10 === 0 ? null : vectorOf(id) } }));
  for (let from = 0; from < rows; from += 500)
    await target.rows!.append("t", { columns, rows: all.slice(from, from + 500) });
  if (index !== undefined) {
    const action = { kind: "createIndex", table: "t", name: "i", index: { path: "at.v", ...index } } as const;
    await target.execute(action, await target.describeTable("t"));
  }
  return { ...target, rows: target.rows! };
}

const column = { table: "t", path: "at.v", distance: "cosine" };
const coarse = { distanceType: "cosine", numPartitions: 1, numSubVectors: 2, numBits: 4 };

test("an index that compares every vector has a recall of 1, and one with few codes a lower one", async () => {
  const flat = await aTarget(1_000, { kind: "ivfFlat", options: { distanceType: "cosine", numPartitions: 1 } });
  const best = await measureRecall(flat, column, { k: 5, sample: 20, clock });
  expect(best).toMatchObject({ recall: 1, sampled: 20 });
  expect(best.indexMilliseconds).toBeGreaterThan(0);
  expect(best.exactMilliseconds).toBeGreaterThan(0);
  const poor = await aTarget(1_000, { kind: "ivfPq", options: coarse });
  const measured = await measureRecall(poor, column, { k: 5, sample: 20, clock });
  expect(measured.recall).toBeGreaterThan(0);
  expect(measured.recall).toBeLessThan(0.8);
  // The same vectors each time.
  expect(await measureRecall(poor, column, { k: 5, sample: 20, clock })).toMatchObject({ recall: measured.recall });
});

test("the vectors come from all parts of the table", async () => {
  const target = await aTarget(3_000);
  const seen: number[] = [];
  const rows = {
    ...target.rows,
    async nearest(...asked: Parameters<typeof target.rows.nearest>) {
      const [own] = await target.rows.nearest("t", { ...asked[1], select: [["id", "id"]], exact: true, limit: 1 });
      seen.push(Number(own!["id"]));
      return await target.rows.nearest(...asked);
    },
  };
  await measureRecall({ rows, countRows: target.countRows }, column, { k: 1, sample: 30, clock });
  const ids = [...new Set(seen)];
  expect(ids).toHaveLength(30);
  expect(ids.every((id) => id % 10 !== 0)).toBe(true);
  for (const from of [0, 500, 1_000, 1_500, 2_000, 2_500])
    expect(ids.filter((id) => id >= from && id < from + 500).length).toBeGreaterThan(1);
});

test("tables with fewer vectors, one vector or none can be measured too", async () => {
  const measure = async (rows: number) => await measureRecall(await aTarget(rows), column, { k: 5, sample: 20, clock });
  expect(await measure(10)).toMatchObject({ recall: 1, sampled: 9 });
  const nothing = { recall: undefined, sampled: 0 };
  expect(await measure(2)).toMatchObject(nothing);
  expect(await measure(1)).toEqual({ ...nothing, indexMilliseconds: undefined, exactMilliseconds: undefined });
});
