import { expect, test } from "vitest";
import { explain, search, type Search } from "../../../src/engine/query.ts";
import { rowsInFile } from "../../../src/wire/arrow/ipc-file.ts";
import { temporaryFolder } from "../../support/project.ts";
import { lancedb } from "../../support/tables.ts";

async function aTable() {
  const db = await lancedb.connect(temporaryFolder());
  const rows = Array.from({ length: 8 }, (_, id) => ({ id, title: id === 3 ? "a needle" : "hay", vector: [id, 1] }));
  const table = await db.createTable("t", rows);
  await table.createIndex("title", { config: lancedb.Index.fts() });
  await table.createIndex("vector", { config: lancedb.Index.ivfFlat({ numPartitions: 4 }) });
  return table;
}

test("a search for a word finds the rows with it, and no others", async () => {
  const { first } = await search(await aTable(), { text: { query: "needle", columns: ["title"] } });
  expect(rowsInFile(first)).toBe(1);
});

test("as many partitions are searched as is said", async () => {
  const table = await aTable();
  const planOf = async (nearest: Partial<Search["nearest"]>) =>
    await explain(table, { nearest: { vectors: [[1, 1]], ...nearest } }, true);
  expect(await planOf({ nprobes: 3 })).toMatch(/minimum_nprobes=3, maximum_nprobes=Some\(3\)/);
  expect(await planOf({ nprobes: 3, minimumNprobes: 2 })).toMatch(/minimum_nprobes=2, maximum_nprobes=None/);
});
