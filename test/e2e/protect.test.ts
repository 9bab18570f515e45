/**
 * What the engine keeps beside tables: materialized views, clones, and logs of writes. What harms them is judged by the engine itself,
 * after the same run without the checks of features.
 */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { down } from "../../src/commands/down.ts";
import { up } from "../../src/commands/up.ts";
import { openSession } from "../../src/session/session.ts";
import { aProject, onStderr, onStdout, temporaryFolder, type Project } from "../support/project.ts";
import { lancedb, rowsOf } from "../support/tables.ts";

const columns = `id: m.int64().notNull(), n: m.float64(), spare: m.float64(), text: m.utf8(), s: m.struct({ x: m.int32(), y: m.utf8() }), "Full ünï": m.utf8(), tags: m.list(m.utf8())`;
const rows = `[{ id: 1, n: 1.5, spare: 3, text: "a", s: { x: 1, y: "q" }, tags: ["a"] }, { id: 2, n: 2.5, spare: 4, text: "b", s: { x: 2, y: "w" }, tags: [] }]`;

/** A table, and what `steps` make of it if they are given: the second migration. */
async function aScene(steps?: string): Promise<Project> {
  const project = aProject();
  const newTables = `newTables: { stableRowIds: true }`;
  project.write(
    "migrate.config.ts",
    `export default { targets: { local: { kind: "lance", uri: ".lancedb", ${newTables} } } };`,
  );
  project.migration("0001_docs.ts", `m.createTable("docs", { ${columns} }, { rows: ${rows} })`);
  if (steps !== undefined) project.migration("0002_change.ts", steps);
  expect(await project.migrate(["up", "--accept", "irreversible"])).toMatchObject({ code: 0 });
  return project;
}

const select: [string, string][] = [
  ["id", "id"],
  ["twice", "n * 2"],
  ["title", "`Full ünï`"],
  ["tags", "tags"],
];
const where = "s.x > 0";

async function addView({ folder }: Pick<Project, "folder">): Promise<void> {
  const db = await lancedb.connect(join(folder, ".lancedb"));
  await (await db.createMaterializedView("recent", "docs", { select, where })).refresh();
}

/** Whether the engine refreshes the view, and it has the rows that it should have. */
async function isIntact({ folder }: Pick<Project, "folder">): Promise<boolean> {
  const database = join(folder, ".lancedb");
  const db = await lancedb.connect(database);
  try {
    await (await db.openMaterializedView("recent")).refresh();
    const source = await db.openTable("docs");
    const wanted = await source.query().select(Object.fromEntries(select)).where(where).toArray();
    const plain = (found: readonly Record<string, unknown>[]) =>
      found.map(({ id, twice }) => `${String(id)} ${String(twice)}`).toSorted();
    expect(plain(await rowsOf(database, "recent"))).toHaveLength(2);
    return plain(await rowsOf(database, "recent")).join() === plain(wanted).join();
  } catch (error) {
    if (error instanceof Error && /AssertionError/.test(error.name)) throw error;
    return false;
  }
}

/** A copy of the project in which the same run has been made without the checks of features. */
async function ranUnchecked({ folder: own }: Project, work: typeof up | typeof down): Promise<Pick<Project, "folder">> {
  const folder = temporaryFolder();
  cpSync(own, folder, { recursive: true, verbatimSymlinks: true });
  const session = await openSession({ folder });
  try {
    await work(session.options, work === up ? { accept: ["irreversible"] } : {});
  } finally {
    await session.close();
  }
  return { folder };
}

const changes: readonly (readonly [what: string, steps: string, harms: boolean])[] = [
  ["a rename of what it reads", `m.renameColumn("docs", "n", "number")`, true],
  ["a rename of what its condition reads", `m.renameColumn("docs", "s.x", "z")`, true],
  ["a rename of what has an odd name", `m.renameColumn("docs", "Full ünï", "title")`, true],
  ["a retype of the items of a list", `m.retypeColumn("docs", "tags", m.list(m.largeUtf8()))`, true],
  ["a rename of another column", `m.renameColumn("docs", "text", "body")`, false],
  ["a rename of another field", `m.renameColumn("docs", "s.y", "z")`, false],
  ["a drop of what it reads", `m.dropColumn("docs", "n")`, true],
  ["a drop of another column", `m.dropColumn("docs", "text")`, false],
  ["a drop of the struct around a field", `m.dropColumn("docs", "s")`, true],
  ["a drop of the table", `m.dropTable("docs")`, true],
  ["a retype of what it reads", `m.retypeColumn("docs", "n", m.float32())`, true],
  ["a conversion of what it reads", `m.retypeColumn("docs", "n", m.int32(), { using: "cast(n as int)" })`, true],
  ["other nullability of what it reads", `m.setNullable("docs", "id", true)`, true],
  ["other nullability of another column", `m.addColumn("docs", "k", m.int32(), { as: "1" })`, false],
  ["metadata of what it reads", `m.setMetadata("docs", "n", { unit: "s" })`, false],
  ["an index", `m.createIndex("docs", "id", m.btree())`, false],
  ["other values", `m.execute("docs", { update: { n: "7" } })`, false],
  ["new rows", `m.insertRows("docs", [{ id: 1, n: 9 }], { key: "id" })`, false],
  ["a conversion to the same type", `m.retypeColumn("docs", "n", m.float64(), { using: "n * 10" })`, false],
  [
    "another column of its name",
    `m.alterColumns("docs", [{ path: "n", rename: "spare" }, { path: "spare", rename: "n" }])`,
    true,
  ],
  ["a new field in a struct of which it reads another", `m.addColumn("docs", "s.k", m.int32())`, false],
];

test.each(changes)("a view, up: %s", async (_, steps, harms) => {
  const project = await aScene();
  await addView(project);
  project.migration("0002_change.ts", steps);
  expect(await isIntact(await ranUnchecked(project, up))).toBe(!harms);
  const ended = await project.migrate(["up", "--accept", "irreversible"]);
  expect(ended).toMatchObject(harms ? onStderr(4, "the view recent of docs") : { code: 0 });
  expect(await isIntact(project)).toBe(true);
});

const reverted: readonly (readonly [what: string, steps: string, harms: boolean])[] = [
  ["a conversion of what it reads", `m.retypeColumn("docs", "n", m.float64(), { using: "n * 10" })`, true],
  ["a conversion of another column", `m.retypeColumn("docs", "spare", m.int64(), { using: "1" })`, false],
  ["another column of its name", `m.dropColumn("docs", "n"), m.renameColumn("docs", "spare", "n")`, true],
  ["other values", `m.execute("docs", { update: { n: "7" } })`, false],
  [
    "new rows",
    `m.insertRows("docs", [{ id: 3, n: 9, spare: 1, text: "c", s: { x: 0, y: "" } }], { key: "id" })`,
    false,
  ],
  ["a column", `m.addColumn("docs", "k", m.int32())`, false],
  ["a rename of another column", `m.renameColumn("docs", "text", "body")`, false],
  ["a drop of another column", `m.dropColumn("docs", "text")`, false],
];

test.each(reverted)("a view, down: %s", async (_, steps, harms) => {
  const project = await aScene(steps);
  await addView(project);
  expect(await isIntact(await ranUnchecked(project, down))).toBe(!harms);
  const ended = await project.migrate(["down", "--yes"]);
  expect(ended).toMatchObject(harms ? onStderr(4, "the view recent of docs") : { code: 0 });
  expect(await isIntact(project)).toBe(true);
});

test("neither what the engine notes in a view nor a refresh is drift, and pull and generate leave views alone", async () => {
  const project = await aScene();
  await addView(project);
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
  const inspected = await project.migrate(["inspect", "recent"]);
  expect(inspected).toMatchObject(onStdout(0, "recent  view of docs  2 rows"));
  expect(inspected.stdout).not.toMatch(/__source_row_id|mv\.(?!definition)/);
  expect(JSON.parse((await project.migrate(["inspect", "--json"])).stdout)).toMatchObject({
    tables: [{ name: "docs" }, { name: "recent", viewOf: "docs" }],
  });
  const schema = await project.migrate(["inspect", "--format", "schema"]);
  expect(schema).toMatchObject(onStderr(0, "note: left out: recent, which is a view of docs"));
  expect(schema.stdout).not.toMatch(/recent/);
});

test("pull leaves out a view, and states it", async () => {
  const project = aProject();
  const db = await lancedb.connect(join(project.folder, ".lancedb"), {
    storageOptions: { new_table_enable_stable_row_ids: "true" },
  });
  await db.createTable("docs", [{ id: 1, n: 1.5, s: { x: 1 }, "Full ünï": "a", tags: ["b"] }]);
  await addView(project);
  expect(await project.migrate(["pull"])).toMatchObject(onStderr(0, "recent, which is a view of docs"));
  expect(await project.migrate(["baseline"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
});

const newer = [
  { id: 2n, n: 20, text: "B" },
  { id: 3n, n: 3, text: "c" },
];

/** A table with two rows, and others that an application has merged into it, through a log if `isLogged`. */
async function aLoggedScene(isLogged: boolean): Promise<Project> {
  const project = aProject();
  const first = `[{ id: 1, n: 1, text: "a" }, { id: 2, n: 2, text: "b" }]`;
  const fields = `{ id: m.int64().notNull(), n: m.int32(), text: m.utf8() }`;
  project.migration("0001_docs.ts", `m.createTable("docs", ${fields}, { rows: ${first} })`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const table = await (await lancedb.connect(join(project.folder, ".lancedb"))).openTable("docs");
  await table.setUnenforcedPrimaryKey(["id"]);
  if (isLogged) await table.setLsmWriteSpec({ specType: "unsharded" });
  await table.mergeInsert("id").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(newer);
  await table.closeLsmWriters();
  return project;
}

/** What a search finds; undefined if the engine can't read the table. */
async function foundIn({ folder }: Pick<Project, "folder">): Promise<string | undefined> {
  const rows = await rowsOf(join(folder, ".lancedb"), "docs").catch(() => undefined);
  return rows
    ?.map((row) => JSON.stringify(Object.entries(row).toSorted()))
    .toSorted()
    .join();
}

const logged: readonly (readonly [what: string, step: string, harms: boolean])[] = [
  ["a rename", `m.renameColumn("docs", "text", "body")`, true],
  ["a retype", `m.retypeColumn("docs", "n", m.int64())`, true],
  ["a conversion", `m.retypeColumn("docs", "n", m.utf8(), { using: "cast(n as string)" })`, true],
  ["a new column", `m.addColumn("docs", "z", m.int32())`, true],
  ["other values", `m.execute("docs", { update: { text: "'x'" } })`, true],
  ["fewer rows", `m.execute("docs", { delete: "n = 3" })`, true],
  ["a drop of a column", `m.dropColumn("docs", "text")`, false],
  ["an index", `m.createIndex("docs", "n", m.btree())`, false],
  ["merged files", `m.optimizeTable("docs")`, false],
  ["metadata", `m.setMetadata("docs", "n", { unit: "s" })`, false],
  [
    "another table in its place",
    `m.dropTable("docs"), m.createTable("docs", { id: m.int32() }), m.addColumn("docs", "k", m.int32())`,
    false,
  ],
];

test.each(logged)("a log of writes: %s", async (_, step, harms) => {
  const project = await aLoggedScene(true);
  const before = await foundIn(project);
  expect(before).toContain("20");
  const plain = await aLoggedScene(false);
  for (const one of [project, plain]) one.migration("0002_change.ts", step);
  expect(await plain.migrate(["up", "--accept", "irreversible"])).toMatchObject({ code: 0 });
  const wanted = await foundIn(plain);
  expect((await foundIn(await ranUnchecked(project, up))) !== wanted).toBe(harms);
  const ended = await project.migrate(["up", "--accept", "irreversible"]);
  expect(ended).toMatchObject(harms ? onStderr(4, "the engine keeps rows of docs in a log") : { code: 0 });
  expect(await foundIn(project)).toBe(harms ? before : wanted);
});

test("a log of writes: new rows, nullability and a rollback are refused, and what the documentation advises leads on", async () => {
  const project = await aLoggedScene(true);
  const steps = [
    `m.insertRows("docs", [{ id: 9, n: 9, text: "q" }], { key: "id" })`,
    `m.setNullable("docs", "n", false)`,
  ];
  for (const step of steps) {
    project.migration("0002_change.ts", step);
    expect(await project.migrate(["up"])).toMatchObject(onStderr(4, "the engine keeps rows of docs in a log"));
  }
  project.migration("0002_change.ts", `m.dropColumn("docs", "text")`);
  expect(await project.migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["down", "--yes"])).toMatchObject(onStderr(4, "the engine keeps rows of docs in a log"));
  const table = await (await lancedb.connect(join(project.folder, ".lancedb"))).openTable("docs");
  const rows = await rowsOf(join(project.folder, ".lancedb"), "docs");
  expect(rows).toHaveLength(3);
  await table.unsetLsmWriteSpec();
  await table
    .mergeInsert("id")
    .whenMatchedUpdateAll()
    .whenNotMatchedInsertAll()
    .execute(rows as never);
  expect(await rowsOf(join(project.folder, ".lancedb"), "docs")).toHaveLength(3);
  project.migration("0003_more.ts", `m.addColumn("docs", "z", m.int32(), { as: "n" })`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await foundIn(project)).toContain("20");
});

test("a drop of a table is refused while a clone reads its files, also of a clone", async () => {
  const project = aProject();
  project.migration("0001_docs.ts", `m.createTable("docs", { id: m.int32() }, { rows: [{ id: 1 }] })`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const database = join(project.folder, ".lancedb");
  const db = await lancedb.connect(database);
  await db.cloneTable("copy", join(database, "docs.lance"));
  await db.cloneTable("other", join(database, "copy.lance"));
  project.migration("0002_drop.ts", `m.dropTable("docs")`);
  const unchecked = await ranUnchecked(project, up);
  // A copy of the folder still reads the files of the first one, whose path is in the clone.
  expect(await rowsOf(join(unchecked.folder, ".lancedb"), "copy")).toHaveLength(1);
  for (const args of [
    ["up", "--accept", "irreversible"],
    ["down", "--yes", "--accept", "lossy"],
  ])
    expect(await project.migrate(args)).toMatchObject(
      onStderr(4, "clones read the files of docs, and could not be read without it: copy, other;"),
    );
  await db.dropTable("other");
  expect(await project.migrate(["up", "--accept", "irreversible"])).toMatchObject(
    onStderr(4, "could not be read without it: copy;"),
  );
  const kept = await rowsOf(database, "copy");
  await db.dropTable("copy");
  await db.createTable("copy", kept as never);
  expect(await project.migrate(["up", "--accept", "irreversible"])).toMatchObject({ code: 0 });
  expect(await rowsOf(database, "copy")).toEqual([{ id: 1 }]);
});

test("the engine can't read a clone without its source", async () => {
  const folder = temporaryFolder();
  const db = await lancedb.connect(folder);
  await db.createTable("docs", [{ id: 1 }]);
  await db.cloneTable("copy", join(folder, "docs.lance"));
  await db.dropTable("docs");
  await expect(rowsOf(folder, "copy")).rejects.toThrow(/Not found/);
});
