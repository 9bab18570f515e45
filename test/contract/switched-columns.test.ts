/** What the engine and its client make of writes that were meant for the column before a switch (docs/embedding-model.md). */
import { Schema } from "apache-arrow";
import { expect, test } from "vitest";
import { createEmptyTable, connect } from "../../src/engine/engine.ts";
import { columnsOf, int64, utf8, vector } from "../../src/schema/declare/type-builders.ts";
import { temporaryFolder } from "../support/project.ts";
import { lancedb, rowsOf } from "../support/tables.ts";

const columns = columnsOf({ id: int64(), text: utf8(), embedding: vector(2), next: vector(4) });

/** A handle that was opened before the columns were switched, and one that was opened afterwards. */
async function switched() {
  const folder = temporaryFolder();
  await createEmptyTable(await connect({ uri: folder }), "docs", columns);
  const open = async () => await (await lancedb.connect(folder)).openTable("docs");
  const handle = await open();
  await handle.add([{ id: 1, text: "a", embedding: [1, 1], next: [1, 1, 1, 1] }]);
  const stale = await open();
  await handle.alterColumns([
    { path: "embedding", rename: "embedding_old" },
    { path: "next", rename: "embedding" },
  ]);
  return {
    stale,
    handle,
    rows: async () => (await rowsOf(folder, "docs")).toSorted((a, b) => Number(a["id"]) - Number(b["id"])),
  };
}

test("a write with the schema from before a switch changes the old column and not the new one", async () => {
  const first = await switched();
  await first.stale.add([{ id: 2, text: "b", embedding: [2, 2] }]);
  expect(await first.rows()).toEqual([
    { id: 1, text: "a", embedding_old: [1, 1], embedding: [1, 1, 1, 1] },
    { id: 2, text: "b", embedding_old: [2, 2], embedding: null },
  ]);
  const namesIn = async ({ stale: table }: typeof other) => (await table.schema()).fields.map(({ name }) => name);
  const other = await switched();
  expect(await namesIn(other)).toEqual(["id", "text", "embedding", "next"]);
  await other.stale.update({ where: "id = 1", values: { text: "c", embedding: [3, 3] } });
  expect(await other.rows()).toEqual([{ id: 1, text: "c", embedding_old: [3, 3], embedding: [1, 1, 1, 1] }]);
  for (const one of [first, other]) expect(await namesIn(one)).toEqual(["id", "text", "embedding_old", "embedding"]);
});

test("the client cuts vectors of the wrong length or fills them up, and the engine refuses those of an Arrow table", async () => {
  const { handle, stale, rows } = await switched();
  const { fields } = await stale.schema();
  await handle.add([
    { id: 2, text: "b", embedding: [1, 2] },
    { id: 3, text: "c", embedding: [1, 2, 3, 4, 5] },
  ]);
  await handle.update({ where: "id = 1", values: { embedding: [1, 2] } });
  expect((await rows()).map(({ embedding }) => embedding)).toEqual([null, [1, 2, null, null], [1, 2, 3, 4]]);
  const schema = new Schema(fields.filter(({ name }) => name !== "next"));
  const given = lancedb.makeArrowTable([{ id: 4, text: "d", embedding: [1, 2] }], { schema });
  await expect(handle.add(given)).rejects.toThrow("cannot cast field 'embedding'");
});
