/** Compacts tables and indexes their rows, on the embedded engine. */
import { expect, test } from "vitest";
import { aProject } from "../support/project.ts";
import { addRows, lancedb, rowsOf } from "../support/tables.ts";

/** A table in several files, of which its index covers the first. */
async function aTable() {
  const project = aProject();
  const create = `m.createTable("t", { id: m.int32(), b: m.utf8() }, { rows: [{ id: 0, b: "x" }] }), m.createIndex("t", "id", m.btree()),`;
  project.migration("0001_create.ts", create);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  for (const id of [1, 2, 3]) await addRows(project.database, "t", [{ id, b: "y" }]);
  return project;
}

async function stateOf(database: string) {
  const table = await (await lancedb.connect(database)).openTable("t");
  const versions = (await table.listVersions()).map(({ version }) => version);
  const { numUnindexedRows } = (await table.indexStats("id_idx"))!;
  return { versions, numUnindexedRows, files: (await table.stats()).fragmentStats.numFragments };
}

test("optimizeTable merges files, indexes all rows and keeps old versions; down leaves that as it is", async () => {
  const project = await aTable();
  project.migration("0002_optimize.ts", `m.optimizeTable("t"),`);
  const before = await stateOf(project.database);
  expect(before).toMatchObject({ numUnindexedRows: 3, files: 4 });
  const plan = await project.migrate(["plan", "-v"]);
  expect(plan.stdout).toContain("optimize t (rewrites an unknown number of rows, 3 versions)");
  expect(plan.stdout).toContain(`t.optimize({"cleanupOlderThan":"1970-01-01T00:00:00.000Z"})`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const after = await stateOf(project.database);
  expect(after).toMatchObject({ numUnindexedRows: 0, files: 2 });
  expect(after.versions).toEqual(expect.arrayContaining(before.versions));
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await stateOf(project.database)).toEqual(after);
  expect(await rowsOf(project.database, "t")).toHaveLength(4);
});

test("a table that is optimized before a column is dropped gets its old version back, with the rows of others", async () => {
  const project = await aTable();
  const steps = `m.optimizeTable("t"), m.dropColumn("t", "b"),`;
  project.migration("0002_drop.ts", steps);
  expect(await project.migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await rowsOf(project.database, "t")).toContainEqual({ id: 3, b: "y" });
  expect(await project.migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
  await addRows(project.database, "t", [{ id: 9 }]);
  expect(await project.migrate(["down"])).toMatchObject({ code: 4 });
  expect(await project.migrate(["down", "--reinsert"])).toMatchObject({ code: 0 });
  expect(await rowsOf(project.database, "t")).toHaveLength(5);
});
