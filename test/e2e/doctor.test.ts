/** What the doctor says of a folder's tables. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject } from "../support/project.ts";
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
    "yes  has 2 tables in file format 2.1: old, older; all clients that were measured read and write it (docs/clients.md)",
    "yes  has 1 table in file format 2.2 with stable row ids: stable; LanceDB's clients for JavaScript from 0.30 and Python from 0.33 read and write it; older ones damage it or read too few rows without an error (docs/clients.md)",
    "yes  makes new tables in file format 2.0: all clients that were measured read and write it (docs/clients.md)",
  ]);
});
