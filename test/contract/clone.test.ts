/** What docs/internals/engine.md says of shallow clones: whatever is done to one, the files of its source stay as they are. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { cloneTables } from "../../src/engine/clone-tables.ts";
import { connect, readColumns } from "../../src/engine/engine.ts";
import { readIndexes } from "../../src/engine/read-indexes.ts";
import { temporaryFolder } from "../support/project.ts";
import { filesOf } from "../support/files.ts";
import { lancedb, rowsOf } from "../support/tables.ts";

/** A folder with a table that has several versions, an index, metadata, deleted rows and a branch. */
async function aDatabase(): Promise<string> {
  const folder = join(temporaryFolder(), "my data #1%20é?");
  const db = await lancedb.connect(folder);
  const table = await db.createTable(
    "docs",
    Array.from({ length: 300 }, (_, id) => ({ id, title: `t${id}`, score: id / 7 })),
  );
  await table.updateFieldMetadata([{ path: "title", metadata: { unit: "words" } }]);
  await table.createIndex("id", { config: lancedb.Index.btree(), name: "by_id" });
  await table.add([{ id: 900, title: "x", score: Number.NaN }]);
  await table.delete("id = 5");
  await (await table.branches()).create("lance-migrate/0002", "main", 1);
  return folder;
}

const cleanAll = () => ({ cleanupOlderThan: new Date(Date.now() + 1_000), deleteUnverified: true });

test("a clone has the rows, the columns with their metadata, the indexes and the number of the newest version", async () => {
  const [folder, to] = [await aDatabase(), temporaryFolder()];
  await cloneTables(folder, ["docs"], to);
  const source = await (await connect({ uri: folder })).openTable("docs");
  const clone = await (await connect({ uri: to })).openTable("docs");
  expect(await readColumns(clone)).toEqual(await readColumns(source));
  expect(await readIndexes(clone, to)).toEqual(await readIndexes(source, folder));
  expect(await rowsOf(to, "docs")).toEqual(await rowsOf(folder, "docs"));
  expect(await clone.version()).toBe(await source.version());
  // Of older versions it knows nothing, nor of what keeps them.
  expect((await clone.listVersions()).map(({ version }) => version)).toEqual([await source.version()]);
  expect(await (await clone.branches()).list()).toEqual({});
});

test("nothing that is done to a clone changes a file of its source", async () => {
  const [folder, to] = [await aDatabase(), temporaryFolder()];
  const before = filesOf(folder);
  await cloneTables(folder, ["docs"], to);
  const db = await lancedb.connect(to);
  const clone = await db.openTable("docs");
  const first = await clone.version();
  await clone.alterColumns([{ path: "title", rename: "headline" }]);
  await (await clone.branches()).create("lance-migrate/0003", "main", first);
  await clone.delete("id > 100");
  await clone.update({ values: { headline: "z" }, where: "id < 10" });
  await clone.dropColumns(["score"]);
  await clone.addColumns([{ name: "n", valueSql: "7" }]);
  await clone.dropIndex("by_id");
  await clone.optimize(cleanAll());
  await clone.checkout(first);
  await clone.restore();
  await (await clone.branches()).delete("lance-migrate/0003");
  await clone.optimize(cleanAll());
  expect(await clone.countRows()).toBe(300);
  await db.dropTable("docs");
  expect(filesOf(folder)).toEqual(before);
});

test("cleaning the source up takes from a clone what the source does not need any more", async () => {
  const [folder, to] = [await aDatabase(), temporaryFolder()];
  await cloneTables(folder, ["docs"], to);
  const source = await (await lancedb.connect(folder)).openTable("docs");
  await source.update({ values: { title: "anew" } });
  await (await source.branches()).delete("lance-migrate/0002");
  await source.optimize(cleanAll());
  await expect(rowsOf(to, "docs")).rejects.toThrow(/not found/i);
});
