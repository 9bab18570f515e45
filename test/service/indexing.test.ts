/** Indexes get the rows that were written later, without anybody asking for it. */
import { expect, onTestFinished, test } from "vitest";
import { childrenOf, processorTime } from "../support/processes.ts";
import { aProject, onStdout, temporaryFolder } from "../support/project.ts";
import { lancedb } from "../support/tables.ts";
import { apiKey, arrow, connectTo, startCommand, type Table } from "./served.ts";

const { Index } = lancedb;

const vectors = () => new arrow.FixedSizeList(2, new arrow.Field("item", new arrow.Float32(), true));
const schema = new arrow.Schema([
  new arrow.Field("id", new arrow.Int64(), false),
  new arrow.Field("text", new arrow.Utf8(), true),
  new arrow.Field("other", vectors(), true),
  new arrow.Field("embedding", vectors(), true),
]);

const row = (id: number) => ({ id: BigInt(id), text: `text ${id}`, other: [1, id], embedding: [id, 1] });
const rows = (first: number, last: number) => Array.from({ length: last - first }, (_, at) => row(first + at));

/** The service as an operator starts it, and a table with indexes, as its clients and as the engine see it. */
async function aTable(flags: readonly string[]) {
  const folder = temporaryFolder();
  const db = await lancedb.connect(folder, { readConsistencyInterval: 0 });
  const local = await db.createTable("docs", rows(0, 60), { schema });
  await local.createIndex("id", { config: Index.btree() });
  await local.createIndex("text", { config: Index.fts() });
  await local.createIndex("other", { config: Index.ivfFlat({ numPartitions: 1 }) });
  const service = await startCommand(folder, flags);
  onTestFinished(async () => void (await service.close()));
  const remote = await connectTo(service.url);
  onTestFinished(() => [db, remote].forEach((connection) => connection.close()));
  return { service, local, table: await remote.openTable("docs") };
}

const indexes = ["id_idx", "text_idx", "other_idx"];
const covered = async (table: Table) =>
  await Promise.all(
    indexes.map(async (name) => {
      const { numIndexedRows, numUnindexedRows } = (await table.indexStats(name))!;
      return [numIndexedRows, numUnindexedRows];
    }),
  );
const allOf = (count: number) => indexes.map(() => [count, 0]);

/** A project whose first migration is what made the table. */
async function aProjectOn(url: string) {
  const project = aProject();
  const target = { kind: "rest", endpoint: url, dialect: "namespace" };
  project.write("migrate.config.ts", `export default { targets: { here: ${JSON.stringify(target)} } };\n`);
  const columns = "{ id: m.int64().notNull(), text: m.utf8(), other: m.vector(2), embedding: m.vector(2) }";
  project.migration("0001_docs.ts", `m.createTable("docs", ${columns}),`);
  const migrate = (...args: string[]) => project.migrate(args, { MIGRATE_API_KEY: apiKey });
  expect(await migrate("baseline")).toMatchObject({ code: 0 });
  return { ...project, migrate };
}

test("after a change of the embedding model, the other indexes contain all rows again, and the run can be rolled back", async () => {
  const { service, table } = await aTable(["--index-after", "0.5"]);
  const { migrate, ...project } = await aProjectOn(service.url);
  project.write(
    "code/new.ts",
    "export default async (rows: { text: string }[]) => rows.map(({ text }) => [text.length, 0, 0]);\n",
  );
  const code = `from: ["text"], key: "id", with: "./code/new.ts", version: "2"`;
  project.migration(
    "0002_model.ts",
    `m.reembedColumn("docs", "embedding", { type: m.vector(3), ${code}, index: m.ivfFlat({ numPartitions: 1 }) }),`,
  );
  expect(await migrate("prepare")).toMatchObject({ code: 0 });
  await expect.poll(() => covered(table)).toEqual(allOf(60));
  await table.add([{ id: 60n, text: "text 60", other: [1, 60] }]);
  expect(await migrate("up")).toMatchObject({ code: 0 });
  await table.waitForIndex([...indexes, "embedding_idx_2"], 300);
  expect(await covered(table)).toEqual(allOf(61));
  expect(await migrate("verify")).toMatchObject({ code: 0 });
  expect(await migrate("down", "--accept", "lossy")).toMatchObject({ code: 0 });
  expect((await table.schema()).fields.map(({ name }) => name).slice(0, 4)).toEqual([
    "id",
    "text",
    "other",
    "embedding",
  ]);
  expect(await migrate("up")).toMatchObject({ code: 0 });
  expect(await migrate("status")).toMatchObject(onStdout(0, "0002_model"));
});

test("a version that a rollback restores is still there after the indexes got new rows", async () => {
  const { service, table } = await aTable(["--index-after", "0.5"]);
  const { migrate, ...project } = await aProjectOn(service.url);
  project.migration("0002_texts.ts", `m.execute("docs", { update: { text: "'gone'" }, where: "id < 30" }),`);
  expect(await migrate("up", "--accept", "lossy")).toMatchObject({ code: 0 });
  await table.waitForIndex(indexes, 300);
  expect(await migrate("down")).toMatchObject({ code: 0 });
  expect(await table.countRows("text = 'gone'")).toBe(0);
});

test("a table with more rows than are compared can be rolled back after its indexes got new rows", async () => {
  const folder = temporaryFolder();
  const db = await lancedb.connect(folder, { readConsistencyInterval: 0 });
  const numbers = new arrow.Schema(["id", "kind"].map((name) => new arrow.Field(name, new arrow.Int32(), true)));
  const rows = Array.from({ length: 100_100 }, (_, id) => ({ id, kind: id }));
  const table = await db.createTable("docs", rows, { schema: numbers });
  await table.createIndex("kind", { config: Index.btree() });
  const service = await startCommand(folder, ["--index-after", "0.2"]);
  onTestFinished(async () => void (await service.close()));
  onTestFinished(() => db.close());
  const project = aProject();
  const target = { kind: "rest", endpoint: service.url, dialect: "namespace" };
  project.write("migrate.config.ts", `export default { targets: { here: ${JSON.stringify(target)} } };\n`);
  project.migration("0001_docs.ts", `m.createTable("docs", { id: m.int32(), kind: m.int32() }),`);
  const migrate = (...args: string[]) => project.migrate(args, { MIGRATE_API_KEY: apiKey });
  expect(await migrate("baseline")).toMatchObject({ code: 0 });
  project.migration("0002_kinds.ts", `m.execute("docs", { update: { kind: "0" }, where: "id < 30" }),`);
  const version = await table.version();
  expect(await migrate("up", "--accept", "lossy")).toMatchObject({ code: 0 });
  await expect.poll(async () => (await table.indexStats("kind_idx"))!.numUnindexedRows).toBe(0);
  // That of the update, and one more, which may be there before `up` has ended.
  expect(await table.version()).toBeGreaterThan(version + 1);
  expect(await migrate("down")).toMatchObject({ code: 0 });
  expect(await table.countRows("kind = 0")).toBe(1);
  // A row that an application has written is found as before.
  expect(await migrate("up", "--accept", "lossy")).toMatchObject({ code: 0 });
  await table.delete("id = 99");
  expect(await migrate("down")).toMatchObject({ code: 4 });
});

test("changes of a table do not wait for indexes, which get the rows although nobody asks about them", async () => {
  const { service, local, table } = await aTable(["--index-after", "0.1"]);
  for (let round = 0; round < 5; round++) {
    await table.add(rows(60 + round, 61 + round));
    await table.alterColumns([{ path: "text", nullable: true }]);
  }
  await expect.poll(() => covered(local)).toEqual(allOf(65));
  expect(service.log.join("")).not.toContain("could not bring");
});

/** Waits until the processes have not worked for a moment: the indexes are complete before the work on them has ended. */
async function idle(pids: readonly number[]): Promise<void> {
  const worked = () => pids.reduce((sum, pid) => sum + processorTime(pid), 0);
  let last = NaN;
  await expect.poll(() => last === (last = worked()), { interval: 500 }).toBe(true);
}

test("a worker for indexes that dies while it is idle is replaced, and its table gets its turn at once", async () => {
  const { service, local, table } = await aTable(["--index-after", "0.3"]);
  await table.add(rows(60, 61));
  await expect.poll(() => covered(local)).toEqual(allOf(61));
  const workers = childrenOf(service.pid);
  await idle(workers);
  for (const pid of workers) process.kill(pid, "SIGKILL");
  await expect.poll(() => childrenOf(service.pid).filter((pid) => workers.includes(pid))).toEqual([]);
  // As many that the time of the last build does not matter.
  await table.add(rows(61, 200));
  await expect.poll(() => covered(local)).toEqual(allOf(200));
  expect(service.log.join("")).not.toContain("could not bring");
});

test("with --index-after 0, indexes stay as they are", async () => {
  const { table } = await aTable(["--index-after", "0"]);
  await table.add(rows(60, 61));
  await expect(table.waitForIndex(indexes, 3)).rejects.toThrow(/timed? ?out/i);
  expect(await covered(table)).toEqual(indexes.map(() => [60, 1]));
});
