/** Which writes of applications make the engine refuse an index that is built meanwhile, and which take rows out of one. */
import type { Table } from "@lancedb/lancedb";
import { expect, test } from "vitest";
import { connect, createEmptyTable } from "../../src/engine/engine.ts";
import { columnsOf, int64, utf8, vector } from "../../src/schema/declare/type-builders.ts";
import { temporaryFolder } from "../support/project.ts";
import { lancedb } from "../support/tables.ts";

const { btree, ivfFlat } = lancedb.Index;
const columns = columnsOf({ id: int64(), text: utf8(), v: vector(2), w: vector(2) });
const rowOf = (id: number) => ({ id, text: `text ${id}`, v: [id, 1], w: [1, id] });
const rowsFrom = (first: number, count: number) => Array.from({ length: count }, (_, at) => rowOf(first + at));

/** A table of three files, with indexes on other columns than `w`. */
async function aTable(key: "id" | "text" = "id") {
  const folder = temporaryFolder();
  await createEmptyTable(await connect({ uri: folder }), "docs", columns);
  const open = async () => await (await lancedb.connect(folder)).openTable("docs");
  const table = await open();
  for (const first of [0, 50, 100]) await table.add(rowsFrom(first, 50));
  await table.createIndex(key, { config: btree() });
  await table.createIndex("v", { config: ivfFlat({ numPartitions: 1 }) });
  return { table, open };
}

const unindexed = async (table: Table, name: string) => (await table.indexStats(name))?.numUnindexedRows;
const merging = (table: Table) => table.mergeInsert("id").whenMatchedUpdateAll().whenNotMatchedInsertAll();

test.each<readonly [string, number, (table: Table) => Promise<unknown>]>([
  ["adds rows", 5, async (table) => await table.add(rowsFrom(200, 5))],
  ["deletes rows", 0, async (table) => await table.delete("id = 60")],
  ["deletes all rows of a file", 0, async (table) => await table.delete("id >= 50 and id < 100")],
  ["updates rows", 1, async (table) => await table.update({ where: "id = 60", valuesSql: { w: "[7.0, 7.0]" } })],
  ["merges rows", 2, async (table) => await merging(table).execute([rowOf(60), rowOf(200)])],
  ["creates another index", 0, async (table) => await table.createIndex("text", { config: lancedb.Index.fts() })],
  ["adds a column", 0, async (table) => await table.addColumns([{ name: "n", valueSql: "1" }])],
])("an index that is built while an application %s is accepted", async (_, left, write) => {
  const { table, open } = await aTable();
  // It builds on the version that it knows.
  const stale = await open();
  await write(table);
  await stale.createIndex("w", { config: ivfFlat({ numPartitions: 2 }) });
  await table.checkoutLatest();
  expect(await unindexed(table, "w_idx")).toBe(left);
});

test("an index that is built while files are merged is refused, and accepted if there were none to merge", async () => {
  const { table, open } = await aTable();
  const build = async (stale: Table) => await stale.createIndex("w", { config: ivfFlat({ numPartitions: 2 }) });
  const stale = await open();
  expect((await table.optimize()).compaction).toMatchObject({ filesRemoved: 3, filesAdded: 1 });
  await expect(build(stale)).rejects.toThrow("CreateIndex transaction was preempted by concurrent transaction Rewrite");
  const again = await open();
  expect((await table.optimize()).compaction).toMatchObject({ filesRemoved: 0 });
  await build(again);
  await table.checkoutLatest();
  expect(await unindexed(table, "w_idx")).toBe(0);
});

test("with a btree index on the key, a merge of some columns takes whole files out of their indexes", async () => {
  const { w: _, ...some } = rowOf(60);
  const keyed = await aTable();
  await merging(keyed.table).execute([some]);
  expect(await unindexed(keyed.table, "id_idx")).toBe(50);
  expect(await unindexed(keyed.table, "v_idx")).toBe(50);
  await keyed.table.optimize();
  expect(await unindexed(keyed.table, "v_idx")).toBe(0);
  await merging(keyed.table).execute([rowOf(60)]);
  expect(await unindexed(keyed.table, "v_idx")).toBe(1);
  const other = await aTable("text");
  await merging(other.table).execute([some]);
  expect(await unindexed(other.table, "v_idx")).toBe(1);
});
