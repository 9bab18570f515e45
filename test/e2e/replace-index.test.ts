/** New indexes in the place of old ones, on the embedded engine. */
import { expect, test } from "vitest";
import { aProject } from "../support/project.ts";
import { addRows, lancedb } from "../support/tables.ts";

const create = `m.createTable("t", { id: m.int32(), s: m.utf8() }, { rows: [{ id: 0, s: "x" }] }),`;

async function open(database: string) {
  return await (await lancedb.connect(database)).openTable("t");
}

async function indexOf(database: string) {
  const { indexType, indexDetails, numIndexedRows, indexUuid } = (await (await open(database)).listIndices())[0]!;
  return { indexType, stem: indexDetails?.["stem"], numIndexedRows, indexUuid };
}

test("createIndex with replace changes parameters in one commit, and down brings the old ones back", async () => {
  const project = aProject();
  project.migration("0001_create.ts", `${create} m.createIndex("t", "s", m.fts()),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const version = await (await open(project.database)).version();
  project.migration("0002_replace.ts", `m.createIndex("t", "s", m.fts({ stem: false }), { replace: true }),`);
  const plan = await project.migrate(["plan"]);
  expect(plan.stdout).toContain("create or replace index s_idx on t.s: fts(stem: false) (builds index s_idx)");
  expect(plan.stdout).toContain("back: create or replace index s_idx on t.s: fts (exact, ");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await (await open(project.database)).version()).toBe(version + 1);
  expect(await indexOf(project.database)).toMatchObject({ indexType: "FTS", stem: false });
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await indexOf(project.database)).toMatchObject({ indexType: "FTS", stem: true });
});

test("rebuildIndex keeps the parameters of an index, also of one that an application made", async () => {
  const project = aProject();
  project.migration("0001_create.ts", create);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await (await open(project.database)).createIndex("s", { config: lancedb.Index.fts({ stem: false }) });
  await addRows(project.database, "t", [{ id: 1, s: "y" }]);
  const before = await indexOf(project.database);
  project.migration("0002_rebuild.ts", `m.rebuildIndex("t", "s_idx"),`);
  const plan = await project.migrate(["plan"]);
  const verbose = await project.migrate(["plan", "-v"]);
  expect(plan.stdout).toContain("rebuild index s_idx of t (builds index s_idx)");
  expect(verbose.stdout).toContain('t.createIndex("s", {"name":"s_idx"');
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const after = await indexOf(project.database);
  expect(after).toMatchObject({ indexType: "FTS", stem: false, numIndexedRows: 2 });
  expect(after.indexUuid).not.toBe(before.indexUuid);
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await indexOf(project.database)).toEqual(after);
});

test("an index that is not there is not rebuilt: plan and up refuse it", async () => {
  const project = aProject();
  project.migration("0001_create.ts", create);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  project.migration("0002_rebuild.ts", `m.rebuildIndex("t", "s_idx"),`);
  const refused = { code: 4, stderr: expect.stringContaining("index s_idx of t is not there; there are none") };
  expect(await project.migrate(["plan"])).toMatchObject(refused);
  expect(await project.migrate(["up"])).toMatchObject(refused);
});

test("generate replaces an index whose parameters or kind changed in schema.ts", async () => {
  const project = aProject();
  const schema = (index: string) => `import { defineSchema, int32, table, utf8, fts, btree } from "lance-migrate";
    export default defineSchema({ t: table({ id: int32(), s: utf8() }, { indexes: [{ on: "s", type: ${index} }] }) });`;
  project.migration("0001_create.ts", `${create} m.createIndex("t", "s", m.fts({ stem: false })),`);
  const generated = async (index: string) => {
    project.write("schema.ts", schema(index));
    return await project.migrate(["generate", "--check"]);
  };
  expect(await generated("fts({ stem: false })")).toMatchObject({ code: 0 });
  const replaced = (words: string) => ({
    code: 3,
    stdout: `create or replace index s_idx on t.s: ${words}\n`,
  });
  expect(await generated("fts({ stem: false, lowercase: false })")).toMatchObject(
    replaced("fts(lowercase: false, stem: false)"),
  );
  expect(await generated("btree()")).toMatchObject(replaced("btree"));
  expect(await project.migrate(["generate", "other"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await indexOf(project.database)).toMatchObject({ indexType: "BTree" });
});
