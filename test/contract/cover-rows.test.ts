/** What it costs, and what it leaves as it is, to bring indexes up to date. */
import { expect, test } from "vitest";
import { coverRows } from "../../src/features/serve/tables/cover-rows.ts";
import { arrow } from "../service/served.ts";
import { temporaryFolder } from "../support/project.ts";
import { lancedb } from "../support/tables.ts";

const { Index } = lancedb;

const vectors = new arrow.FixedSizeList(2, new arrow.Field("item", new arrow.Float32(), true));
const schema = new arrow.Schema([
  new arrow.Field("id", new arrow.Int64()),
  new arrow.Field("text", new arrow.Utf8(), true),
  new arrow.Field("v", vectors, true),
]);
const rows = (first: number, last: number, hasVector = true) =>
  Array.from({ length: last - first }, (_, at) => {
    const id = first + at;
    return { id: BigInt(id), text: `text ${id}`, v: hasVector ? [id, 1] : null };
  });

async function aTable() {
  const folder = temporaryFolder();
  const table = await (await lancedb.connect(folder)).createTable("t", rows(0, 300), { schema });
  const look = async () => ({
    covered: Object.fromEntries(
      (await table.listIndices()).map(({ name, numIndexedRows, numUnindexedRows, numSegments }) => [
        name,
        [numIndexedRows, numUnindexedRows, numSegments],
      ]),
    ),
    files: (await table.stats()).fragmentStats.numFragments,
  });
  return { folder, table, look, cover: (least = 0) => coverRows(table, folder, least) };
}

test("indexes other than those of vectors are built again with their parameters, and no file of rows is written", async () => {
  const { table, look, cover } = await aTable();
  await table.createIndex("id", { config: Index.btree() });
  const own = { withPosition: true, baseTokenizer: "ngram", ngramMinLength: 2, stem: false } as const;
  await table.createIndex("text", { config: Index.fts(own), name: "words" });
  const details = async () => (await table.listIndices()).map(({ name, indexDetails }) => [name, indexDetails]);
  const before = await details();
  for (const first of [300, 310]) await table.add(rows(first, first + 10));
  expect(await look()).toEqual({ covered: { id_idx: [300, 20, 1], words: [300, 20, 1] }, files: 3 });
  expect(await cover(0.07)).toEqual({ uncovered: 20 / 320, done: false });
  expect(await cover()).toEqual({ uncovered: 0, done: true });
  expect(await look()).toEqual({ covered: { id_idx: [320, 0, 1], words: [320, 0, 1] }, files: 3 });
  expect(await details()).toEqual(before);
  expect(await table.countRows("id = 305")).toBe(1);
  const version = await table.version();
  expect(await cover()).toEqual({ uncovered: 0, done: false });
  expect(await table.version()).toBe(version);
});

test("a vector index gets parts for few rows until it has ten, and then waits for a tenth of the rows", async () => {
  const { table, look, cover } = await aTable();
  await table.createIndex("v", { config: Index.ivfFlat({ numPartitions: 2 }) });
  for (let round = 0; round < 10; round++) {
    await table.add(rows(300 + round, 301 + round));
    expect(await cover()).toMatchObject({ done: true });
  }
  await table.add(rows(310, 311));
  expect(await cover()).toEqual({ uncovered: 0, done: false });
  expect(await look()).toMatchObject({ covered: { v_idx: [310, 1, 10] } });
  await table.add(rows(311, 350));
  expect(await cover()).toMatchObject({ done: true });
  expect(await look()).toMatchObject({ covered: { v_idx: [350, 0, 11] } });
});

test("new rows without vectors are no failure", async () => {
  const { table, cover } = await aTable();
  await table.createIndex("v", { config: Index.ivfFlat({ numPartitions: 2 }) });
  await table.createIndex("id", { config: Index.btree() });
  await table.add(rows(300, 310, false));
  await expect(table.optimize({ cleanupOlderThan: new Date(0) })).rejects.toThrow(/Not found: .*ivf_\d\.lance/);
  expect(await cover()).toMatchObject({ done: true });
  expect((await table.indexStats("id_idx"))!.numUnindexedRows).toBe(0);
  await table.delete("v is not null");
  await table.add(rows(310, 320, false));
  await expect(table.optimize({ cleanupOlderThan: new Date(0) })).rejects.toThrow(/cannot train . centroids with 0/);
  expect(await cover()).toMatchObject({ done: true });
});

test("an index that another program has changed meanwhile stays as that made it", async () => {
  const { folder, table, look, cover } = await aTable();
  await table.createIndex("id", { config: Index.btree() });
  await table.createIndex("text", { config: Index.bitmap() });
  await table.add(rows(300, 310));
  const others = await (await lancedb.connect(folder)).openTable("t");
  await others.createIndex("text", { config: Index.btree(), replace: true });
  await others.dropColumns(["text"]);
  expect(await cover()).toMatchObject({ done: true });
  expect((await look()).covered).toEqual({ id_idx: [310, 0, 1] });
});

test("a table in which the service may undo a write is left alone", async () => {
  const folder = temporaryFolder();
  const tags = new arrow.List(new arrow.Field("item", new arrow.Utf8(), true));
  const struct = new arrow.Struct([new arrow.Field("tags", tags, true)]);
  const columns = [new arrow.Field("id", new arrow.Int32(), true), new arrow.Field("s", struct, true)];
  const row = (id: number) => ({ id, s: { tags: ["a"] } });
  const db = await lancedb.connect(folder);
  const table = await db.createTable("t", [row(1)], { schema: new arrow.Schema(columns) });
  await table.createIndex("id", { config: Index.btree() });
  await table.add([row(2)]);
  const before = await table.version();
  expect(await coverRows(table, folder, 0)).toEqual({ uncovered: 0, done: false });
  expect(await table.version()).toBe(before);
});
