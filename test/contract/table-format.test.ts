/** How the files of new tables are written: the setting, the engine, and what is read back of it. */
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { tableFormat } from "../../src/engine/manifest/table-format.ts";
import type { Action } from "../../src/actions/model/action.ts";
import type { NewTables } from "../../src/schema/table-format.ts";
import { open } from "../../src/targets/lance/lance.ts";
import { temporaryFolder } from "../support/project.ts";
import { lancedb } from "../support/tables.ts";
import { recordsOf } from "../support/ledger.ts";

async function aTarget(newTables?: NewTables) {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: "database", newTables }, { name: "test", folder });
  onTestFinished(target.close);
  return { target, database: join(folder, "database") };
}

const people = (rows?: readonly Record<string, number>[]): Action => ({
  kind: "createTable",
  table: "people",
  columns: [{ name: "id", type: { kind: "int32" }, nullable: true }],
  rows,
});

const choices = [
  { newTables: undefined, format: { dataStorageVersion: "2.2", stableRowIds: false } },
  { newTables: {}, format: { dataStorageVersion: "2.2", stableRowIds: false } },
  { newTables: { dataStorageVersion: "2.0" }, format: { dataStorageVersion: "2.0", stableRowIds: false } },
  { newTables: { stableRowIds: true }, format: { dataStorageVersion: "2.2", stableRowIds: true } },
  {
    newTables: { dataStorageVersion: "2.1", stableRowIds: true },
    format: { dataStorageVersion: "2.1", stableRowIds: true },
  },
] as const;

test.each(choices)("a table is made as newTables says: $newTables", async ({ newTables, format }) => {
  const { target, database } = await aTarget(newTables);
  await target.execute(people(), undefined);
  expect(target.formatOf?.("people")).toEqual(format);
  const filled = await aTarget(newTables);
  await filled.target.execute(people([{ id: 1 }]), undefined);
  expect(filled.target.formatOf?.("people")).toEqual(format);
  // Whatever is written later by a connection that knows nothing of the setting.
  const table = await (await lancedb.connect(database)).openTable("people");
  for (let id = 0; id < 12; id++) await table.add([{ id }]);
  await table.optimize();
  expect(tableFormat(database, "people")).toEqual(format);
});

test("newTables does not change how the ledger is made", async () => {
  const { target } = await aTarget({ dataStorageVersion: "2.0", stableRowIds: true });
  await recordsOf(target, "_migrations").create();
  expect(target.formatOf?.("_migrations")).toEqual({ dataStorageVersion: "2.2", stableRowIds: false });
});

test("the newest manifest counts, whichever way their names are counted", async () => {
  const { target, database } = await aTarget();
  const db = await lancedb.connect(database, {
    storageOptions: { new_table_enable_v2_manifest_paths: "false", new_table_data_storage_version: "2.1" },
  });
  const table = await db.createTable("old", [{ id: 1 }]);
  for (let id = 2; id < 12; id++) await table.add([{ id }]);
  expect(target.formatOf?.("old")).toEqual({ dataStorageVersion: "2.1", stableRowIds: false });
});

test("nothing is said about the format of a table that is not there", async () => {
  const { target } = await aTarget();
  expect(target.formatOf?.("people")).toBeUndefined();
});
