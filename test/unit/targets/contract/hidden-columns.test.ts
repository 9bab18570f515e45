import { ivfFlat } from "lance-migrate";
import { expect, test } from "vitest";
import type { Action } from "../../../../src/actions/model/action.ts";
import { columnsOf, int64, vector } from "../../../../src/schema/declare/type-builders.ts";
import { open } from "../../../../src/targets/lance/lance.ts";
import { temporaryFolder } from "../../../support/project.ts";
import { addRows, lancedb } from "../../../support/tables.ts";

/** A table without rows. `done`: how many commits the action took, as the target says. */
async function aTable() {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "here", folder });
  const columns = columnsOf({ id: int64(), v: vector(2), w: vector(2) });
  await target.execute({ kind: "createTable", table: "t", columns }, undefined);
  const seen = async () => (await target.describeTable("t", true))!;
  const done = async (action: Action) => {
    const { commits = 1 } = await target.execute(action, await seen());
    return commits;
  };
  const create = async (path: string) =>
    await done({ kind: "createIndex", table: "t", name: "at", index: { path, ...ivfFlat({ numPartitions: 2 }) } });
  const drop = async () => await done({ kind: "dropIndex", table: "t", name: "at" });
  const fill = async () =>
    await addRows(
      folder,
      "t",
      [1, 2].map((id) => ({ id, v: [id, 2], w: [id, 3] })),
    );
  const table = async () => await (await lancedb.connect(folder)).openTable("t");
  return { target, create, drop, fill, table, described: async () => (await seen()).table };
}

test("an index that is deferred already is not marked again, and another one of its name is", async () => {
  const { target, create, fill, described } = await aTable();
  expect(await create("v")).toBe(1);
  expect(await create("v")).toBe(0);
  expect(await create("w")).toBe(1);
  expect((await described()).indexes).toMatchObject({ at: { path: "w" } });
  await fill();
  // That of the index, and that of its mark.
  expect(await create("w")).toBe(2);
  expect(await described()).toMatchObject({ indexes: { at: { path: "w" } } });
  expect((await described()).deferred).toBeUndefined();
  await target.close();
});

test("the mark of a deferred index is dropped with it, also if somebody has created the index meanwhile", async () => {
  const { target, create, drop, fill, table, described } = await aTable();
  await create("v");
  expect(await drop()).toBe(1);
  await create("v");
  await fill();
  await (await table()).createIndex("v", { name: "at", config: lancedb.Index.ivfFlat({ numPartitions: 2 }) });
  expect(await drop()).toBe(2);
  expect(await (await table()).listIndices()).toEqual([]);
  expect((await described()).indexes).toEqual({});
  await target.close();
});
