/** Deferred vector indexes beside what goes wrong: refused indexes, unreadable tables, other projects, renames. */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, type Project, onStderr, onStdout } from "../support/project.ts";
import { aProjectOn, key } from "./support/project-on.ts";
import { addRows, lancedb } from "../support/tables.ts";

const docs = `m.createTable("docs", { id: m.int64().notNull(), embedding: m.vector(4) }),`;
const flat = `m.createIndex("docs", "embedding", m.ivfFlat({ numPartitions: 2 })),`;

function rowsFrom(first: number, count: number) {
  return Array.from({ length: count }, (_, at) => ({
    id: first + at,
    embedding: Array.from({ length: 4 }, (_, place) => Math.sin((first + at) * (place + 1))),
  }));
}

async function recordsOf(project: Project): Promise<number> {
  return await (await (await lancedb.connect(project.database)).openTable("_migrations")).countRows();
}

/** Marks an index as deferred that the engine refuses, as if its parameters had become invalid. */
async function withRefusedIndex(): Promise<Project> {
  const project = aProject();
  project.migration("0001_docs.ts", `${docs} ${flat}`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const table = await (await lancedb.connect(project.database)).openTable("docs");
  const mark = JSON.stringify({ kind: "ivfFlat", options: { numPartitions: 2, distanceType: "hamming" } });
  await table.updateFieldMetadata([{ path: "embedding", metadata: { "lance_migrate_deferred.embedding_idx": mark } }]);
  await addRows(project.database, "docs", rowsFrom(0, 10));
  return project;
}

test.each([
  ["ivfPq({ numBits: 5 })", "numBits"],
  ["ivfRq({ numBits: 10 })", "numBits"],
  ["hnswSq({ m: 400 })", "efConstruction"],
  ["hnswPq({ m: 3 })", "m"],
])("an index that can never be built is refused, however few vectors there are: %s", async (index, word) => {
  const project = aProject();
  project.migration("0001_docs.ts", `${docs} m.createIndex("docs", "embedding", m.${index}),`);
  const up = await project.migrate(["up"]);
  expect(up).toMatchObject(onStderr(4, word));
});

test("an index that has enough vectors and can't be built is named by up, status and verify, without new records", async () => {
  const project = await withRefusedIndex();
  expect(await project.migrate(["up"])).toMatchObject(onStderr(0, "embedding_idx of docs could not be built"));
  const records = await recordsOf(project);
  const up = await project.migrate(["up"]);
  expect(up.stderr).toContain("embedding_idx of docs could not be built");
  expect(up.stderr).not.toContain("needs at least");
  expect(await recordsOf(project)).toBe(records);
  const words = "index embedding_idx of docs is missing: there are enough vectors, but it could not be built: ";
  expect((await project.migrate(["status"])).stdout).toContain(words);
  expect(await project.migrate(["verify"])).toMatchObject(onStdout(4, words));
  const { stdout } = await project.migrate(["verify", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({
    deferred: [{ table: "docs", vectors: 2, needed: 2, problem: expect.any(String) }],
  });

  await addRows(project.database, "docs", rowsFrom(10, 1));
  expect((await project.migrate(["up"])).stderr).toContain("could not be built");
  expect(await recordsOf(project)).toBeGreaterThan(records);
});

test("a table that no migration knows is not looked at, and an unreadable one of them is a note", async () => {
  const project = aProject();
  project.migration("0001_docs.ts", `${docs} ${flat}`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const connection = await lancedb.connect(project.database);
  await connection.createTable("others", rowsFrom(0, 2));
  const breakTable = (table: string) => {
    const folder = join(project.database, `${table}.lance`, "_versions");
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), "broken");
  };
  breakTable("others");
  const up = await project.migrate(["up"]);
  expect(up).toMatchObject(onStderr(0, "docs holds 0 vectors"));
  expect(up.stderr).not.toContain("others");
  expect(await project.migrate(["status"])).toMatchObject({ code: 0 });

  project.migration("0002_more.ts", docs.replace("docs", "more"));
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  breakTable("docs");
  const words = "index embedding_idx of docs may be deferred; the table could not be read: ";
  expect(await project.migrate(["up"])).toMatchObject(onStderr(0, words));
  expect(await project.migrate(["status"])).toMatchObject(onStdout(0, words));
});

test("a project builds no index on a table of another project in the same folder", async () => {
  const [one, other] = [aProject(), aProject()];
  other.write(
    "migrate.config.ts",
    `export default { ledger: "_other", targets: { here: { kind: "lance", uri: ${JSON.stringify(one.database)} } } };\n`,
  );
  one.migration("0001_docs.ts", `${docs} ${flat}`);
  other.migration("0001_more.ts", `${docs} ${flat}`.replaceAll("docs", "more"));
  expect(await one.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await other.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(one.database, "more", rowsFrom(0, 2));
  expect((await one.migrate(["up"])).stdout).toBe("nothing to do\n");
  expect((await one.migrate(["status"])).stdout).not.toContain("of more");
  expect(await other.migrate(["up"])).toMatchObject({
    stdout: expect.stringContaining("built index embedding_idx of more"),
  });
});

test("status reports enough vectors, and not a count that stopped at the needed ones", async () => {
  const project = aProject();
  project.migration("0001_docs.ts", `${docs} ${flat}`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "docs", rowsFrom(0, 10));
  const words = "docs holds enough vectors for it; the next migrate up builds it";
  expect((await project.migrate(["status"])).stdout).toContain(words);
});

test("a deferral is recorded if the same migration renames the table", async () => {
  const { data, ...project } = await aProjectOn("namespace");
  const migrate = async (args: readonly string[]) => await project.migrate(args, key);
  project.migration("0001_docs.ts", `${docs} ${flat} m.renameTable("docs", "papers"),`);
  expect((await migrate(["up"])).stderr).toContain("papers holds 0 vectors");
  await addRows(data, "papers", rowsFrom(0, 2));
  expect((await migrate(["up"])).stdout).toContain("built index embedding_idx of papers");
});

test("a migration that is adopted keeps its deferral", async () => {
  const project = aProject();
  project.migration("0001_docs.ts", `${docs} ${flat}`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["resolve", "--adopted", "0001", "--yes"])).toMatchObject({ code: 0 });
  expect((await project.migrate(["status"])).stdout).toContain("docs holds 0 vectors");
  await addRows(project.database, "docs", rowsFrom(0, 2));
  expect((await project.migrate(["up"])).stdout).toContain("built index embedding_idx of docs");
});

test("a migration that stopped after it deferred an index, and is resumed, keeps the deferral", async () => {
  const project = aProject();
  const titled = `m.createTable("docs", { id: m.int64().notNull(), embedding: m.vector(4), title: m.utf8() }, { rows: [{ id: 1, title: "words" }] }),`;
  const number = `m.addColumn("docs", "number", m.int32(), { as: "cast(title as int)" }),`;
  project.migration("0001_docs.ts", `${titled} ${flat} ${number}`);
  expect(await project.migrate(["up"])).toMatchObject(onStderr(1, "step 3"));
  const table = await (await lancedb.connect(project.database)).openTable("docs");
  await table.update({ values: { title: "5" } });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect((await project.migrate(["status"])).stdout).toContain("embedding_idx");
  await addRows(project.database, "docs", rowsFrom(2, 10));
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await table.checkoutLatest();
  expect(await table.listIndices()).toMatchObject([{ name: "embedding_idx" }]);
});
