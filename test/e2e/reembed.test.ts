/** Changing the embedding model of a column. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { markSql } from "../../src/actions/rewrite/source-marks.ts";
import { stagingName } from "../../src/features/embed/compute/staging-name.ts";
import { aProject, fillingOnce, onStderr, onStdout, type Project } from "../support/project.ts";
import { addRows, lancedb, rowsOf } from "../support/tables.ts";

const marks = "_lance_migrate_kept_embedding_old";
const marksBack = "_lance_migrate_kept_embedding";
const texts = Array.from({ length: 12 }, (_, id) => `text ${id}`);

/** Vectors of the text's number, and a log of the rows that were computed. */
function embedderOf(length: number): string {
  return `import { appendFileSync } from "node:fs";
export default async function embed(rows: { text: string }[]) {
  appendFileSync("log.txt", rows.map(({ text }) => "${length} " + text + "\\n").join(""));
  return rows.map(({ text }) => Array.from({ length: ${length} }, (_, at) => Number(text.split(" ")[1]) + at));
}
`;
}

const fill = fillingOnce(async (project) => {
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const rows = texts.map((text, id) => ({ id, text, embedding: [id, id + 1] }));
  await addRows(project.database, "docs", rows);
});

/** A table of texts with vectors of an old model, and a pending migration that changes the model. */
async function aScene(options = ""): Promise<Project> {
  const project = aProject();
  const columns = "{ id: m.int64().notNull(), text: m.utf8(), embedding: m.vector(2) }";
  project.write("code/old.ts", embedderOf(2));
  project.write("code/new.ts", embedderOf(3));
  project.migration("0001_docs.ts", `m.createTable("docs", ${columns}),`);
  await fill(project);
  reembed(project, options);
  return project;
}

function reembed(project: Project, options = "", type = "m.vector(3)", file = "0002_model.ts"): void {
  const index = "index: m.ivfFlat({ numPartitions: 1 })";
  project.migration(
    file,
    `m.reembedColumn("docs", "embedding", { type: ${type}, from: ["text"], key: "id", with: "./code/new.ts", version: "2", batch: 4, ${index}, ${options} }),`,
  );
}

function logOf({ folder }: Project): readonly string[] {
  const file = join(folder, "log.txt");
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
}

async function openDocs({ database }: Project) {
  return await (await lancedb.connect(database)).openTable("docs");
}

async function vectorsIn({ database }: Project, column = "embedding"): Promise<Readonly<Record<string, unknown>>> {
  const rows = (await rowsOf(database, "docs")) as readonly Record<string, unknown>[];
  return Object.fromEntries(
    rows.map((row) => [row["text"], row[column] === null ? null : [...(row[column] as Iterable<number>)]]),
  );
}

async function namesIn(project: Project): Promise<readonly string[]> {
  return (await (await openDocs(project)).schema()).fields.map(({ name }) => name);
}

async function indexesIn(project: Project): Promise<readonly string[]> {
  return (await (await openDocs(project)).listIndices()).map(({ name, columns }) => `${name} on ${columns.join()}`);
}

async function tablesIn({ database }: Project): Promise<readonly string[]> {
  return (await (await lancedb.connect(database)).tableNames()).toSorted();
}

const complete = Object.fromEntries(texts.map((text, id) => [text, [id, id + 1, id + 2]]));
const old = Object.fromEntries(texts.map((text, id) => [text, [id, id + 1]]));
const logged = texts.map((text) => `3 ${text}`).toSorted();

test("up changes the model and keeps the old column, and down switches back, but not without consent if rows have no old value", async () => {
  const project = await aScene();
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await namesIn(project)).toEqual(["id", "text", "embedding_old", "embedding", marks]);
  expect(await vectorsIn(project)).toEqual(complete);
  expect(await vectorsIn(project, "embedding_old")).toEqual(old);
  expect(await indexesIn(project)).toEqual(["embedding_idx_2 on embedding"]);
  // No index waits.
  const { stdout } = await project.migrate(["history"]);
  expect(stdout).toContain("watched until embedding_old of docs is dropped");
  expect(stdout).not.toContain("deferred");
  // As a run leaves it that is killed after it has merged values.
  const db = await lancedb.connect(project.database);
  await db.createTable(stagingName("_migrations", { table: "docs", path: "embedding" }), [{ id: 1n }]);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await tablesIn(project)).toEqual(["_migrations", "docs"]);
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
  await (await openDocs(project)).add([{ id: 12, text: "text 12", embedding_old: null, embedding: [1, 2, 3] }]);
  expect(await project.migrate(["down"])).toMatchObject(onStderr(4, "1 row of docs was written since"));
  expect(await project.migrate(["down", "--accept", "lossy"])).toMatchObject({ code: 0 });
  expect(await namesIn(project)).toEqual(["id", "text", "embedding"]);
  expect(await vectorsIn(project)).toEqual({ ...old, "text 12": null });
  expect(await indexesIn(project)).toEqual([]);
  // As a run leaves it that is killed before its catch-up has ended: no value counts as computed.
  const valueSql = markSql({ version: "2", from: ["text"] });
  await (await openDocs(project)).addColumns([{ name: "_lance_migrate_source_embedding", valueSql }]);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await vectorsIn(project)).toEqual({ ...complete, "text 12": [12, 13, 14] });
});

test("prepare computes and indexes ahead of up, unseen by migrations; up computes what was written since", async () => {
  const project = await aScene();
  const prepared = await project.migrate(["prepare"]);
  expect(prepared).toMatchObject({
    code: 0,
    stdout:
      "prepared docs.embedding for 0002_model: 12 rows computed; for 12 rows, 10.0 of the 10 nearest rows are the same as with the old values, on average\n",
  });
  expect(logOf(project).toSorted()).toEqual(logged);
  expect(await vectorsIn(project)).toEqual(old);
  for (const command of [["verify"], ["plan"], ["rehearse"], ["up", "--to", "1"]])
    expect(await project.migrate(command)).toMatchObject({ code: 0 });
  expect((await project.migrate(["status"])).stdout).toMatch(/pending  0002_model +docs.embedding: 12 rows computed/);
  // Nothing is computed twice.
  expect(await project.migrate(["prepare"])).toMatchObject({ code: 0 });
  expect(logOf(project)).toHaveLength(texts.length);
  const docs = await openDocs(project);
  await docs.add([{ id: 12, text: "text 12", embedding: [0, 0] }]);
  await docs.update({ where: "id = 3", values: { text: "text 33" } });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const { "text 3": _, ...others } = complete;
  expect(await vectorsIn(project)).toEqual({ ...others, "text 12": [12, 13, 14], "text 33": [33, 34, 35] });
  expect(logOf(project).slice(texts.length).toSorted()).toEqual(["3 text 12", "3 text 33"]);
  expect(await tablesIn(project)).toEqual(["_migrations", "docs"]);
});

test("shards compute each row once, and up creates the index", async () => {
  const project = await aScene();
  const shards = ["1/3", "2/3", "3/3"].map((shard) => project.migrate(["prepare", "--shard", shard]));
  for (const ended of await Promise.all(shards)) expect(ended).toMatchObject({ code: 0 });
  expect(logOf(project).toSorted()).toEqual(logged);
  expect(await indexesIn(project)).toEqual([]);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(logOf(project)).toHaveLength(texts.length);
  expect(await vectorsIn(project)).toEqual(complete);
  expect(await indexesIn(project)).toEqual(["embedding_idx_2 on embedding"]);
  expect(await tablesIn(project)).toEqual(["_migrations", "docs"]);
});

test.each(["0/3", "4/3", "1", "a/b", "1/2/3", "1/5000"])("--shard %s is refused", async (shard) => {
  const project = aProject();
  expect(await project.migrate(["prepare", "--shard", shard])).toMatchObject({ code: 2 });
});

test("with another version, everything is computed again; with another type, in a new column, and without what shards have computed", async () => {
  const project = await aScene();
  expect(await project.migrate(["prepare"])).toMatchObject({ code: 0 });
  reembed(project, 'version: "3"');
  expect(await project.migrate(["prepare"])).toMatchObject({ code: 0 });
  expect(logOf(project)).toHaveLength(2 * texts.length);
  project.write("code/new.ts", embedderOf(4));
  reembed(project, 'version: "3"', "m.vector(4)");
  expect(await project.migrate(["prepare", "--shard", "1/1"])).toMatchObject({ code: 0 });
  project.write("code/new.ts", embedderOf(5));
  reembed(project, 'version: "3"', "m.vector(5)");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(logOf(project)).toHaveLength(4 * texts.length);
  expect((await vectorsIn(project))["text 1"]).toEqual([1, 2, 3, 4, 5]);
  expect(await tablesIn(project)).toEqual(["_migrations", "docs"]);
});

test("a column that was added after prepare does not come between, and no code is needed where no row is to be computed", async () => {
  const project = await aScene();
  expect(await project.migrate(["prepare"])).toMatchObject({ code: 0 });
  project.migration("0003_words.ts", 'm.addColumn("docs", "words", m.int32()),');
  reembed(project, "", "m.vector(3)", "0004_model.ts");
  rmSync(join(project.folder, "migrations/0002_model.ts"));
  const waiting = await project.migrate(["prepare"]);
  expect(waiting.stdout).toContain(
    "not prepared: docs.embedding for 0004_model, because 0003_words is pending and changes docs; run migrate up --to 3 first",
  );
  rmSync(join(project.folder, "code/new.ts"));
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await namesIn(project)).toEqual(["id", "text", "embedding_old", "words", "embedding", marks]);
  expect(await vectorsIn(project)).toEqual(complete);
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
});

test("down computes old values of rows that were written since, which are watched from then on, until the model is changed again", async () => {
  const project = await aScene('down: { with: "./code/old.ts", version: "1" }');
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  // What a later run has computed has no old value either.
  await (await openDocs(project)).update({ where: "id = 2", values: { text: "text 22" } });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const docs = await openDocs(project);
  expect((await vectorsIn(project))["text 22"]).toEqual([22, 23, 24]);
  await docs.add([{ id: 12, text: "text 12", embedding_old: null, embedding: [1, 2, 3] }]);
  await docs.update({ where: "id = 3", values: { text: "text 33" } });
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  const { "text 2": _, "text 3": __, "text 4": ___, ...others } = old;
  const computed = { "text 12": [12, 13], "text 22": [22, 23], "text 33": [33, 34] };
  expect(await vectorsIn(project)).toEqual({ ...others, ...computed, "text 4": [4, 5] });
  expect(await namesIn(project)).toEqual(["id", "text", "embedding", marksBack]);
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });

  // A release without the migration does not end the watch.
  const file = join(project.folder, "migrations/0002_model.ts");
  const text = readFileSync(file, "utf8");
  rmSync(file);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  writeFileSync(file, text);
  await docs.checkoutLatest();
  await docs.add([{ id: 13, text: "text 13", embedding: null }]);
  await docs.update({ where: "id = 3", values: { text: "text 333" } });
  await docs.update({ where: "id = 4", valuesSql: { text: "'text 44'", embedding: "[7.0, 7.0]" } });
  const stale = [{ table: "docs", path: "embedding", upTo: "0001", rows: { missing: 1, outdated: 1, failed: 0 } }];
  const verified = await project.migrate(["verify", "--json"]);
  expect(verified.code).toBe(4);
  expect(JSON.parse(verified.stdout)).toMatchObject({ differences: [], stale });
  expect((await project.migrate(["status"])).stdout).toContain(
    "2 rows of docs lack a right embedding: 1 without a value, 1 with the value of former text (id 13, 3); migrate up --to 0001 computes them. Rows are looked for until the new model is applied again",
  );
  expect(await project.migrate(["up", "--to", "0001"])).toMatchObject({ code: 0 });
  const { "text 33": ____, ...same } = computed;
  const written = { ...same, "text 13": [13, 14], "text 333": [333, 334], "text 44": [7, 7] };
  expect(await vectorsIn(project)).toEqual({ ...others, ...written });
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });

  // Nobody repairs this one before the model is changed again, and rolled back again.
  await docs.update({ where: "id = 5", values: { text: "text 55" } });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await namesIn(project)).toEqual(["id", "text", "embedding_old", "embedding", marks]);
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  const { "text 5": _____, ...rest } = others;
  expect(await vectorsIn(project)).toEqual({ ...rest, ...written, "text 55": [55, 56] });
});

test("what is written after a rollback is computed without what was prepared, and not while the step is another one, which keeps the old vectors", async () => {
  const project = await aScene('down: { with: "./code/old.ts", version: "1" }');
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["prepare"])).toMatchObject({ code: 0 });
  await (await openDocs(project)).update({ where: "id = 3", values: { text: "text 33" } });
  expect(await project.migrate(["up", "--to", "1"])).toMatchObject({ code: 0 });
  const { "text 3": _, ...others } = old;
  expect(await vectorsIn(project)).toEqual({ ...others, "text 33": [33, 34] });
  // The marks would not fit any row.
  await (await openDocs(project)).update({ where: "id = 4", values: { text: "text 44" } });
  reembed(project, 'down: { with: "./code/old.ts", version: "another" }');
  const computed = logOf(project);
  expect(await project.migrate(["up", "--to", "1"])).toMatchObject({ code: 0 });
  expect(logOf(project)).toEqual(computed);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const { "text 4": former, ...same } = others;
  expect(await vectorsIn(project, "embedding_old")).toEqual({ ...same, "text 33": [33, 34], "text 44": former });
  expect(await namesIn(project)).not.toContain(marksBack);
});

test("verify and status find what is written with the old model after the switch, up computes it, until the old column is dropped", async () => {
  const project = await aScene();
  const stale = await openDocs(project);
  await stale.schema();
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  // The engine accepts what is written with the schema from before the switch.
  await stale.add([{ id: 12, text: "text 12", embedding: [0, 0] }]);
  const docs = await openDocs(project);
  await docs.update({ where: "id = 3", values: { text: "text 33" } });
  await docs.update({ where: "id = 4", valuesSql: { text: "'text 44'", embedding: "[1.0, 2.0, 3.0]" } });
  await docs.add([{ id: 13, text: "text 13", embedding_old: null, embedding: [7, 7, 7] }]);
  const found =
    "2 rows of docs lack a right embedding: 1 without a value, 1 with the value of former text (id 12, 3); migrate up computes them. Rows are looked for until embedding_old is dropped";
  const verified = await project.migrate(["verify"]);
  expect(verified).toMatchObject(onStdout(4, found));
  expect((await project.migrate(["status"])).stdout).toContain(found);
  expect(JSON.parse((await project.migrate(["verify", "--json"])).stdout)).toMatchObject({
    differences: [],
    stale: [{ table: "docs", path: "embedding", old: "embedding_old", rows: { missing: 1, outdated: 1, failed: 0 } }],
  });
  const before = logOf(project).length;
  expect(await project.migrate(["up", "-q"])).toEqual({
    code: 0,
    stdout:
      "computed docs.embedding for 2 rows that applications had left without a right value\nno migration was pending\n",
    stderr: "",
  });
  expect(logOf(project).slice(before).toSorted()).toEqual(["3 text 12", "3 text 33"]);
  const { "text 3": _, "text 4": __, ...others } = complete;
  const written = { "text 12": [12, 13, 14], "text 33": [33, 34, 35], "text 44": [1, 2, 3], "text 13": [7, 7, 7] };
  expect(await vectorsIn(project)).toEqual({ ...others, ...written });
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
  const [, idle] = [await project.migrate(["up"]), logOf(project).length];
  expect(idle).toBe(before + 2);
  project.migration("0003_drop.ts", 'm.dropColumn("docs", "embedding_old"),');
  expect(await project.migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
  expect(await namesIn(project)).toEqual(["id", "text", "embedding"]);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0, stderr: expect.not.stringContaining("computed") });
});

test("a row for which a rollback has failed is reported, and computed later", async () => {
  const project = await aScene('failedRows: "leave", down: { with: "./code/old.ts", version: "1" }');
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await (await openDocs(project)).update({ where: "id = 3", values: { text: "text 33" } });
  project.write(
    "code/old.ts",
    `export default () => { throw new Error("not today"); };
`,
  );
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  const { "text 3": former, ...others } = old;
  expect(await vectorsIn(project)).toEqual({ ...others, "text 33": former });
  expect(JSON.parse((await project.migrate(["verify", "--json"])).stdout)).toMatchObject({
    stale: [{ keys: [3], rows: { missing: 0, outdated: 0, failed: 1 } }],
  });
  const tried = await project.migrate(["up", "--to", "1"]);
  expect(tried).toMatchObject({ code: 0, stdout: "no migration was pending\n" });
  project.write("code/old.ts", embedderOf(2));
  expect(await project.migrate(["up", "--to", "1"])).toMatchObject({
    code: 0,
    stdout:
      "computed docs.embedding for 1 row that applications had left without a right value\nno migration was pending\n",
  });
  expect(await vectorsIn(project)).toEqual({ ...others, "text 33": [33, 34] });
});

test("a column that values are computed from, and that is gone from the table, is reported, and ends no command", async () => {
  const project = await aScene('down: { with: "./code/old.ts", version: "1" }');
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const unknown =
    "it is unknown whether rows of docs lack a right value of embedding: the column text of docs was renamed";
  const drift = expect.objectContaining({ code: 4, stdout: expect.stringContaining("text") });
  const rename = async (from: string, to: string) =>
    await (await openDocs(project)).alterColumns([{ path: from, rename: to }]);
  await rename("text", "body");
  expect(await project.migrate(["status"])).toMatchObject(onStdout(0, unknown));
  expect(await project.migrate(["verify"])).toEqual(drift);
  await rename("body", "text");
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  await rename("text", "body");
  expect(await project.migrate(["status"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["verify"])).toEqual(drift);
  expect(await project.migrate(["up", "--to", "1"])).toMatchObject({ code: 0 });
  // Then it is watched as before.
  await rename("body", "text");
  await (await openDocs(project)).update({ where: "id = 3", values: { text: "text 33" } });
  expect(JSON.parse((await project.migrate(["status", "--json"])).stdout)).toMatchObject({ stale: [{ keys: [3] }] });
});

/** A table of which two migrations have changed the model: from vectors of 2 numbers to 3, and to 4. */
async function aSceneOfTwo(): Promise<Project> {
  const project = await aScene('down: { with: "./code/old.ts", version: "1" }');
  project.write("code/newer.ts", embedderOf(4));
  const options = `type: m.vector(4), from: ["text"], key: "id", with: "./code/newer.ts", version: "3", keep: "embedding_older"`;
  // The version is the same as that of the other rollback, whose code is another one.
  const down = `down: { with: "./code/new.ts", version: "1" }`;
  project.migration("0003_model.ts", `m.reembedColumn("docs", "embedding", { ${options}, ${down} }),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  return project;
}

test("of two changes of the model that are rolled back, the marks are those of the first one", async () => {
  const project = await aSceneOfTwo();
  expect(await namesIn(project)).toContain("_lance_migrate_kept_embedding_older");
  const docs = await openDocs(project);
  const staleIn = async () =>
    (JSON.parse((await project.migrate(["status", "--json"])).stdout) as { stale: object[] }).stale;
  // The second one alone: the column is also one that the first one has switched.
  await docs.add([{ id: 12, text: "text 12", embedding_older: null, embedding: [12, 13, 14, 15] }]);
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await vectorsIn(project)).toEqual({ ...complete, "text 12": [12, 13, 14] });
  await docs.update({ where: "id in (2, 12)", valuesSql: { text: "concat('text 2', id)" } });
  expect(await staleIn()).toMatchObject([{ path: "embedding", upTo: "0002", keys: [2, 12] }]);
  expect(await project.migrate(["up", "--to", "2"])).toMatchObject({ code: 0 });
  const { "text 2": _, ...others } = complete;
  expect(await vectorsIn(project)).toEqual({ ...others, "text 22": [22, 23, 24], "text 212": [212, 213, 214] });
  expect(await staleIn()).toEqual([]);
  expect(logOf(project).filter((line) => line === "3 text 22")).toHaveLength(1);
  await docs.delete("id = 12");

  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  const { "text 2": __, ...rest } = old;
  expect(await vectorsIn(project)).toEqual({ ...rest, "text 22": [22, 23] });
  expect(await namesIn(project)).toEqual(["id", "text", "embedding", marksBack]);
  expect(await staleIn()).toEqual([]);
  await docs.update({ where: "id = 3", values: { text: "text 33" } });
  expect(await staleIn()).toMatchObject([{ path: "embedding", upTo: "0001", keys: [3] }]);
  expect(await project.migrate(["up", "--to", "1"])).toMatchObject({ code: 0 });
  const { "text 3": ___, ...untouched } = rest;
  expect(await vectorsIn(project)).toEqual({ ...untouched, "text 22": [22, 23], "text 33": [33, 34] });
  expect(await staleIn()).toEqual([]);

  // Both again, and back at once.
  await docs.update({ where: "id = 4", values: { text: "text 44" } });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await staleIn()).toEqual([]);
  expect(await project.migrate(["down", "--to", "1"])).toMatchObject({ code: 0 });
  const { "text 4": ____, ...same } = untouched;
  const written = { "text 22": [22, 23], "text 33": [33, 34], "text 44": [44, 45] };
  expect(await vectorsIn(project)).toEqual({ ...same, ...written });
  expect(await staleIn()).toEqual([]);
});

test("prepare --discard drops the marks that only a rollback has left, and no others", async () => {
  const project = await aSceneOfTwo();
  const marksIn = async () => (await namesIn(project)).filter((name) => name.startsWith("_lance_migrate"));
  const discard = async () => await project.migrate(["prepare", "--discard"]);
  expect(await discard()).toMatchObject({ code: 0, stdout: "nothing to discard\n" });
  const before = await marksIn();
  expect(before).toEqual(["_lance_migrate_kept_embedding_old", "_lance_migrate_kept_embedding_older"]);
  // A release that lacks the files must leave them to those that have them.
  const files = ["0002_model.ts", "0003_model.ts"].map((name) => join(project.folder, "migrations", name));
  const texts = files.map((file) => readFileSync(file, "utf8"));
  for (const file of files) rmSync(file);
  expect(await discard()).toMatchObject({ code: 0, stdout: "nothing to discard\n" });
  for (const [at, file] of files.entries()) writeFileSync(file, texts[at]!);
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await marksIn()).toEqual(["_lance_migrate_kept_embedding_old", marksBack]);
  expect(await discard()).toMatchObject({ code: 0, stdout: "dropped the prepared columns of docs\n" });
  expect(await marksIn()).toEqual(["_lance_migrate_kept_embedding_old"]);
  // With these, the rollback computes only what was written since.
  await (await openDocs(project)).update({ where: "id = 3", values: { text: "text 33" } });
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(logOf(project).filter((line) => line.startsWith("2 "))).toEqual(["2 text 33"]);
  expect(await marksIn()).toEqual([marksBack]);
  expect(await discard()).toMatchObject({ code: 0, stdout: "dropped the prepared columns of docs\n" });
  expect(await marksIn()).toEqual([]);
  const { "text 3": _, ...others } = old;
  expect(await vectorsIn(project)).toEqual({ ...others, "text 33": [33, 34] });
});

test("an application's vectors of numbers of 16 bits are known as its own, and a table that can't be read is reported", async () => {
  const project = await aScene();
  reembed(project, "", "m.vector(3, m.float16())");
  project.migration("0003_others.ts", `m.createTable("others", { id: m.int64() }),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const docs = await openDocs(project);
  await docs.update({ where: "id = 4", valuesSql: { text: "'text 44'", embedding: "[44.5, 45.0, 46.0]" } });
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
  await docs.update({ where: "id = 5", values: { text: "text 55" } });
  expect(JSON.parse((await project.migrate(["verify", "--json"])).stdout)).toMatchObject({ stale: [{ keys: [5] }] });
  const versions = join(project.database, "docs.lance/_versions");
  for (const name of readdirSync(versions)) writeFileSync(join(versions, name), "");
  project.migration("0004_more.ts", `m.addColumn("others", "more", m.utf8()),`);
  // It has done what was asked for.
  expect(await project.migrate(["up"])).toMatchObject(
    onStderr(0, "it is unknown whether rows of docs lack a right value of embedding: table docs"),
  );
});

test("no row is computed from another column that has the name of a renamed one", async () => {
  const project = await aScene();
  project.migration("0003_rename.ts", 'm.renameColumn("docs", "text", "body"), m.addColumn("docs", "text", m.utf8()),');
  const words = "note: it is unknown whether rows of docs lack a right value of embedding: the column text of docs was";
  expect(await project.migrate(["up"])).toMatchObject(onStderr(0, words));
  expect(logOf(project)).toHaveLength(texts.length);
});

test("a column stays watched after a run of a release that lacks the migration, and a vector that is too short is computed", async () => {
  const project = await aScene();
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const file = join(project.folder, "migrations/0002_model.ts");
  const text = readFileSync(file, "utf8");
  rmSync(file);
  for (let run = 0; run < 2; run++)
    expect(await project.migrate(["up"])).toMatchObject(onStderr(0, "applied here without a file: 0002_model"));
  project.write("migrations/0002_model.ts", text);
  const docs = await openDocs(project);
  await docs.update({ where: "id = 3", values: { text: "text 33" } });
  // The client fills it up with nulls.
  await docs.add([{ id: 12, text: "text 12", embedding: [12, 13] }]);
  expect((await vectorsIn(project))["text 12"]).toEqual([12, 13, null]);
  expect(JSON.parse((await project.migrate(["status", "--json"])).stdout)).toMatchObject({
    stale: [{ rows: { missing: 1, outdated: 1, failed: 0 }, keys: [3, 12] }],
  });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const { "text 3": _, ...others } = complete;
  expect(await vectorsIn(project)).toEqual({ ...others, "text 12": [12, 13, 14], "text 33": [33, 34, 35] });
});

test("rows that a migration has inserted are rolled back although its code has failed since", async () => {
  const project = await aScene();
  const fails = `throw new Error("no");`;
  project.write("code/fails.ts", `export default () => { ${fails} };\n`);
  project.migration(
    "0002_model.ts",
    `m.insertRows("docs", [{ id: 99, text: "text 99" }], { key: "id" }),
    m.reembedColumn("docs", "embedding", { type: m.vector(3), from: ["text"], key: "id", with: "./code/fails.ts", version: "2" }),`,
  );
  expect(await project.migrate(["up"])).toMatchObject(onStderr(1, "(reembedColumn) failed"));
  expect(await project.migrate(["plan", "--down"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await vectorsIn(project)).toEqual(old);
  expect((await project.migrate(["status"])).stdout).not.toContain("reverting");
});

test("plans state which rows are computed, which values are dropped, and which options are missing", async () => {
  const project = await aScene();
  rmSync(join(project.folder, "migrations/0002_model.ts"));
  project.migration("0002_index.ts", 'm.createIndex("docs", "embedding", m.ivfFlat({ numPartitions: 1 })),');
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const code = 'type: m.vector(3), from: ["text"], key: "id", with: "./code/new.ts", version: "2"';
  project.migration("0003_model.ts", `m.reembedColumn("docs", "embedding", { ${code} }),`);
  const plan = (await project.migrate(["plan"])).stdout;
  expect(plan).toContain(
    "risk: the step has no `index`: embedding_idx stays on the old column of docs, so searches on the new embedding compare every row\n",
  );
  expect(plan).toContain(
    "risk: the step has no `down`, which can only be added before `up`: a rollback computes no old",
  );
  expect(plan).toContain("for rows that were written meanwhile (rewrites only rows that others write meanwhile)\n");
  const down = 'down: { with: "./code/old.ts", version: "1" }';
  const index = "index: m.ivfFlat({ numPartitions: 1 })";
  project.migration("0003_model.ts", `m.reembedColumn("docs", "embedding", { ${code}, ${index}, ${down} }),`);
  expect((await project.migrate(["plan"])).stdout).not.toContain("the step has no");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const back = (await project.migrate(["plan", "--down"])).stdout;
  expect(back).toContain(
    "compute docs.embedding_old from text with ./code/old.ts, version 1, in rows whose old value is not known to be current (metadata only)\n    code computes 0 rows in 0 calls\n",
  );
  expect(back).toContain(
    "risk: docs.embedding_old is dropped with the values of the new model (fixedSizeList<float32, 3>): 12 rows now\n",
  );
  await (await openDocs(project)).add([{ id: 12, text: "text 12", embedding: [12, 13, 14] }]);
  rmSync(join(project.folder, "code/old.ts"));
  expect(await project.migrate(["down"])).toMatchObject(onStderr(4, "would fail: there is no file ./code/old.ts"));
  project.write("code/old.ts", embedderOf(2));
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await vectorsIn(project)).toEqual({ ...old, "text 12": [12, 13] });
  expect(await indexesIn(project)).toEqual(["embedding_idx on embedding"]);
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
});

test("a failing embedder stops prepare with the row, and what was computed is kept", async () => {
  const project = await aScene();
  project.write(
    "code/new.ts",
    embedderOf(3).replace(
      "return",
      'if (rows.some(({ text }) => text === "text 7")) throw new Error("no seven"); return',
    ),
  );
  const failed = await project.migrate(["prepare", "--json"]);
  expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining('"ERR_PREPARE_FAILED"') });
  expect(failed.stderr).toContain(
    "0002_model.ts, step 1 (reembedColumn) could not be prepared: ./code/new.ts, for the row whose id is 7: no seven; what was computed before is kept; fix the cause and run migrate prepare again",
  );
  const stopped = /docs.embedding: prepare stopped .*, \d+ of 12 rows computed/;
  expect((await project.migrate(["status"])).stdout).toMatch(stopped);
  project.write("code/new.ts", embedderOf(3));
  const again = await project.migrate(["prepare"]);
  expect(again.code).toBe(0);
  expect(again.stderr).not.toContain("waiting for");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await vectorsIn(project)).toEqual(complete);
});

test("a module that is missing is found before anything is changed, and before another column is prepared", async () => {
  const project = await aScene();
  rmSync(join(project.folder, "migrations/0002_model.ts"));
  const columns = "{ id: m.int64().notNull(), text: m.utf8(), v: m.vector(2) }";
  project.migration("0002_more.ts", `m.createTable("more", ${columns}),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "more", [{ id: 1, text: "text 1", v: [1, 2] }]);
  reembed(project, "", "m.vector(3)", "0003_model.ts");
  const options = `{ type: m.vector(3), from: ["text"], key: "id", with: "./code/none.ts", version: "2" }`;
  project.migration("0004_more.ts", `m.reembedColumn("more", "v", ${options}),`);
  const before = await (await openDocs(project)).version();
  const problem = "0004_more.ts, step 1 (reembedColumn) would fail: there is no file ./code/none.ts";
  for (const command of ["plan", "rehearse", "prepare", "up"])
    expect(await project.migrate([command])).toMatchObject(onStderr(4, problem));
  expect(await (await openDocs(project)).version()).toBe(before);
});

test("an index that finds too little is dropped: nothing is switched, and the recall is reported", async () => {
  const project = await aScene();
  const docs = await openDocs(project);
  const rows = Array.from({ length: 600 }, (_, at) => ({
    id: 100 + at,
    text: `text ${100 + at}`,
    embedding: [at, at],
  }));
  await docs.add(rows);
  project.write(
    "code/new.ts",
    `export default (rows: { text: string }[]) => rows.map(({ text }) =>
      Array.from({ length: 8 }, (_, at) => Math.sin(Number(text.split(" ")[1]) * (at + 1))));`,
  );
  const poor = "index: m.ivfPq({ numPartitions: 1, numSubVectors: 2, numBits: 4 }), minRecall: 0.95, sample: 20";
  reembed(project, poor, "m.vector(8)");
  const tooLow =
    /0002_model.ts, step 1 \(reembedColumn\) (failed|could not be prepared): the recall@10 of index embedding_idx_2 is 0\.\d+ with 20 vectors of docs.embedding, and minRecall is 0.95/;
  for (const command of ["prepare", "up"]) {
    const failed = await project.migrate([command]);
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringMatching(tooLow) });
    expect(await indexesIn(project)).toEqual([]);
  }
  expect((await vectorsIn(project))["text 1"]).toEqual([1, 2]);
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
  // With another index, nothing is computed again.
  reembed(project, "minRecall: 0.95, sample: 20", "m.vector(8)");
  project.write("code/new.ts", 'export default () => { throw new Error("called"); };');
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await indexesIn(project)).toEqual(["embedding_idx_2 on embedding"]);
});

test("prepare --discard drops what was prepared, also for a migration that is gone, but not of a half-done one", async () => {
  const project = await aScene();
  const discard = async () => await project.migrate(["prepare", "--discard"]);
  expect(await project.migrate(["prepare", "--shard", "1/1"])).toMatchObject({ code: 0 });
  const stdout = `dropped ${texts.length} computed values that were not in a column yet\n`;
  expect(await discard()).toMatchObject({ code: 0, stdout });
  expect(await tablesIn(project)).toEqual(["_migrations", "docs"]);
  expect(await project.migrate(["prepare"])).toMatchObject({ code: 0 });
  rmSync(join(project.folder, "migrations/0002_model.ts"));
  expect(await discard()).toMatchObject({ code: 0, stdout: "dropped the prepared columns of docs\n" });
  expect(await namesIn(project)).toEqual(["id", "text", "embedding"]);
  expect(await tablesIn(project)).toEqual(["_migrations", "docs"]);
  expect(await discard()).toMatchObject({ code: 0, stdout: "nothing to discard\n" });
  project.migration(
    "0002_model.ts",
    'm.addColumn("docs", "words", m.int32()), m.reembedColumn("docs", "embedding", { type: m.vector(3), from: ["text"], key: "id", with: "./broken.ts", version: "2" }),',
  );
  project.write("broken.ts", "export default () => [];\nthrow new Error();\n");
  expect(await project.migrate(["up"])).toMatchObject({ code: 1 });
  const refused = await discard();
  expect(refused).toMatchObject({ code: 2 });
  expect(refused.stderr).toContain("0002_model is not finished and may need its prepared columns");
});

test("a not-null column becomes nullable when it is kept, and not null again on the way back", async () => {
  const project = await aScene();
  rmSync(join(project.folder, "migrations/0002_model.ts"));
  project.migration("0002_strict.ts", 'm.setNullable("docs", "embedding", false),');
  reembed(project, "", "m.vector(3)", "0003_model.ts");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await (await openDocs(project)).add([{ id: 12, text: "text 12", embedding: [1, 2, 3] }]);
  expect(await project.migrate(["down", "--accept", "lossy"])).toMatchObject({ code: 4 });
  await (await openDocs(project)).delete("id = 12");
  expect(await project.migrate(["down", "--accept", "lossy"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
  expect(await vectorsIn(project)).toEqual(old);
});

test("`where` can't name the column, whose values change", async () => {
  const project = await aScene('where: "embedding is not null"');
  const refused = await project.migrate(["plan"]);
  expect(refused).toMatchObject({ code: 4 });
  expect(refused.stderr).toContain("`where` can't use embedding, which has other values after the switch");
});

test("the code is started only to compute something, and a row that fails is computed once", async () => {
  const project = await aScene('failedRows: "leave"');
  const failing = 'if (rows.some(({ text }) => text === "text 7")) throw new Error("no seven"); return';
  project.write("code/new.ts", `console.error("started");\n${embedderOf(3).replace("return", failing)}`);
  const up = await project.migrate(["up"]);
  expect(up).toMatchObject({ code: 0 });
  expect(up.stderr.split("started")).toHaveLength(2);
  expect(up.stderr.match(/got no value/g)).toHaveLength(1);
  expect(await vectorsIn(project)).toEqual({ ...complete, "text 7": null });
  // Once with the others of its call, and once alone.
  expect(logOf(project).filter((line) => line === "3 text 7")).toHaveLength(2);
});

/** Writes the priority of this process, and on Linux those of the engine's threads. */
const priorities = `import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { getPriority } from "node:os";
export default (rows) => {
  const found = [getPriority()];
  for (const id of existsSync("/proc/self/task") ? readdirSync("/proc/self/task") : []) {
    const thread = (file) => readFileSync("/proc/self/task/" + id + "/" + file, "utf8");
    if (/tokio|lance/.test(thread("comm"))) found.push(Number(thread("stat").split(") ")[1].split(" ")[16]));
  }
  writeFileSync("priorities.json", JSON.stringify(found));
  return rows.map(() => [1, 2, 3]);
};
`;

test("prepare leaves the processors to others, and up does not", async () => {
  const project = await aScene();
  project.write("code/new.ts", priorities);
  const priorityDuring = async (command: string) => {
    expect(await project.start([command]).finished).toMatchObject({ code: 0 });
    return new Set(JSON.parse(readFileSync(join(project.folder, "priorities.json"), "utf8")));
  };
  expect(await priorityDuring("prepare")).toEqual(new Set([10]));
  await (await openDocs(project)).update({ where: "id = 3", values: { text: "text 33" } });
  expect(await priorityDuring("up")).toEqual(new Set([0]));
});
