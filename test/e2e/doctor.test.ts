/** What the doctor says of a folder's tables. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, onStdout } from "../support/project.ts";
import { lancedb } from "../support/tables.ts";

const storage = {
  new: {},
  old: { new_table_data_storage_version: "2.1" },
  older: { new_table_data_storage_version: "2.1" },
  stable: { new_table_enable_stable_row_ids: "true" },
};

test("doctor says which clients can write to the tables that are there, and to those that migrations will make", async () => {
  const project = aProject();
  project.write(
    "migrate.config.ts",
    `export default { targets: { local: { kind: "lance", uri: "data", newTables: { dataStorageVersion: "2.0" } } }, target: "local" };\n`,
  );
  for (const [name, storageOptions] of Object.entries(storage)) {
    const db = await lancedb.connect(join(project.folder, "data"), { storageOptions });
    await db.createTable(name, [{ id: 1 }]);
  }
  const { code, stdout } = await project.migrate(["doctor"]);
  expect(code).toBe(0);
  const told = stdout.split("\n").filter((line) => line.includes("file format"));
  expect(told).toEqual([
    "yes  has 1 table in file format 2.2: new; LanceDB's clients for JavaScript from 0.27 and Python from 0.30 read and write it; older ones can't read it, and after an append by JavaScript 0.22 or Python 0.25 no client can (docs/clients.md)",
    "yes  has 2 tables in file format 2.1: old, older; all clients that were measured read and write it, but JavaScript 0.22 and Python before 0.30 ignore indexes of the kinds labelList, fts and ivfRq, and fail with fm (docs/clients.md)",
    "yes  has 1 table in file format 2.2 with stable row ids: stable; LanceDB's clients for JavaScript from 0.30 and Python from 0.33 read and write it; older ones damage it or read too few rows without an error (docs/clients.md)",
    "yes  makes new tables in file format 2.0: all clients that were measured read and write it, but JavaScript 0.22 and Python before 0.30 ignore indexes of the kinds labelList, fts and ivfRq, and fail with fm (docs/clients.md)",
  ]);
});

test("doctor lists deferred indexes, and says if the ledger does not show them", async () => {
  const project = aProject();
  project.migration(
    "0001_docs.ts",
    `m.createTable("docs", { at: m.vector(2) }), m.createIndex("docs", "at", m.ivfFlat()),`,
  );
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const words = "index at_idx is deferred: docs holds 0 vectors for it, and ivfFlat needs at least 1;";
  expect(await project.migrate(["doctor"])).toMatchObject(onStdout(0, words));
  const found = { table: "docs", index: "at_idx", kind: "ivfFlat", vectors: 0, needed: 1 };
  expect(JSON.parse((await project.migrate(["doctor", "--json"])).stdout)).toMatchObject({
    fit: true,
    deferred: [found],
  });

  const connection = await lancedb.connect(project.database);
  await connection.dropTable("_migrations");
  await connection.createTable("_migrations", [{ id: 1 }]);
  const unknown = await project.migrate(["doctor"]);
  expect(unknown).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(
      /^whether indexes are deferred is unknown: .*\nlocal can't be migrated safely: its ledger can't be read\n$/m,
    ) as string,
  });
});
