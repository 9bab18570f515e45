/** An index or metadata that an application has given a table is not taken for what a step of that name makes. */
import { expect, test } from "vitest";
import { aProject, type Project, onStderr, onStdout } from "../support/project.ts";
import { lancedb } from "../support/tables.ts";

const create = `m.createTable("t", { id: m.int32(), s: m.utf8(), v: m.vector(2) }, { rows: [{ id: 0, s: "x", v: [1, 2] }] }),`;

async function open({ database }: Pick<Project, "database">) {
  return await (await lancedb.connect(database)).openTable("t");
}

/** A table to which an application has given this, and a migration after that. */
async function aTable(step: string, change: (table: Awaited<ReturnType<typeof open>>) => Promise<unknown>) {
  const project = aProject();
  project.migration("0001_create.ts", create);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await change(await open(project));
  project.migration("0002_step.ts", step);
  return project;
}

async function metadataOf(project: Project) {
  const { fields } = await (await open(project)).schema();
  return Object.fromEntries(fields.find(({ name }) => name === "s")!.metadata);
}

async function indexesOf(project: Project) {
  const found = await (await open(project)).listIndices();
  return Object.fromEntries(found.map(({ name, indexType }) => [name, indexType]));
}

const setOwner = async (table: Awaited<ReturnType<typeof open>>) =>
  await table.updateFieldMetadata([{ path: "s", metadata: { owner: "app" } }]);
const indexText = async (table: Awaited<ReturnType<typeof open>>) =>
  await table.createIndex("s", { config: lancedb.Index.btree() });

test.each([
  ["another value", "{ more: '1', owner: 'me' }"],
  ["no value", "{ owner: null }"],
])("metadata of an application is refused for %s, and stays", async (_, metadata) => {
  const project = await aTable(`m.addColumn("t", "n", m.int32()), m.setMetadata("t", "s", ${metadata}),`, setOwner);
  const words =
    's already has owner = "app", which no migration has set, so a rollback would remove it; pass { replace: true }';
  for (const command of ["plan", "up"]) expect(await project.migrate([command])).toMatchObject(onStderr(4, words));
  expect(await metadataOf(project)).toEqual({ owner: "app" });
});

test("metadata of an application that a step replaces is put back by down", async () => {
  const project = await aTable(`m.setMetadata("t", "s", { owner: "me" }, { replace: true }),`, setOwner);
  expect(await project.migrate(["plan"])).toMatchObject(onStdout(0, "back: restore t as it was before (restore"));
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await metadataOf(project)).toEqual({ owner: "me" });
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await metadataOf(project)).toEqual({ owner: "app" });
});

test("keys beside those of an application, and keys of migrations, are set and rolled back", async () => {
  const project = await aTable(`m.setMetadata("t", "s", { other: "1" }),`, setOwner);
  project.migration("0003_again.ts", `m.setMetadata("t", "s", { other: "2" }),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await metadataOf(project)).toEqual({ owner: "app", other: "2" });
  expect(await project.migrate(["down", "--to", "1"])).toMatchObject({ code: 0 });
  expect(await metadataOf(project)).toEqual({ owner: "app" });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
});

test.each([
  ["of the same kind", `m.createIndex("t", "s", m.btree()),`],
  ["behind a rename", `m.renameColumn("t", "s", "r"), m.createIndex("t", "r", m.btree(), { name: "s_idx" }),`],
])("an index that takes the name of an application's one, %s, is refused", async (_, step) => {
  const project = await aTable(step, indexText);
  const words =
    /index s_idx of t already exists, on (s|r), and no migration created it, so a rollback would drop it; pass \{ replace: true \}/;
  for (const command of ["plan", "up"])
    expect(await project.migrate([command])).toMatchObject({ code: 4, stderr: expect.stringMatching(words) });
  expect(await indexesOf(project)).toEqual({ s_idx: "BTree" });
});

test("an index of an application that a step replaces is put back by down", async () => {
  const project = await aTable(`m.createIndex("t", "s", m.fts(), { replace: true }),`, indexText);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await indexesOf(project)).toEqual({ s_idx: "FTS" });
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await indexesOf(project)).toEqual({ s_idx: "BTree" });
});

test("an index whose migration a lost ledger recorded is known again after repair", async () => {
  const project = aProject();
  project.migration("0001_create.ts", create);
  project.migration("0002_index.ts", `m.createIndex("t", "s", m.btree()),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await (await lancedb.connect(project.database)).dropTable("_migrations");
  expect(await project.migrate(["repair", "--yes"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0, stdout: "nothing to do\n" });
  expect(await indexesOf(project)).toEqual({ s_idx: "BTree" });
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await indexesOf(project)).toEqual({});
});

test("a new embedding model whose index has the name of an application's one is refused before it is computed", async () => {
  const step = `m.reembedColumn("t", "v", { type: m.vector(2), from: ["s"], key: "id", with: "./code.ts", version: "1", index: m.ivfFlat({ numPartitions: 1 }), indexName: "s_idx" }),`;
  const project = await aTable(step, indexText);
  project.write("code.ts", "export default () => { throw new Error('called'); };");
  expect(await project.migrate(["up"])).toMatchObject(
    onStderr(4, "s_idx of t already exists, on s, and no migration created it"),
  );
});
