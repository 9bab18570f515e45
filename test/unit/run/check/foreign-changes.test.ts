import { expect, test } from "vitest";
import { isAnother, timeOfVersion } from "../../../../src/run/check/foreign-changes.ts";
import { int32, columnsOf } from "../../../../src/schema/declare/type-builders.ts";
import type { Target } from "../../../../src/targets/contract/target.ts";
import { loadTarget } from "../../../../src/targets/index.ts";
import { temporaryFolder } from "../../../support/project.ts";
import { lancedb } from "../../../support/tables.ts";

test("a directory that looks like another proves nothing while the version that was seen is there", async () => {
  const folder = temporaryFolder();
  const module = (await loadTarget("lance"))!;
  const target = await module.open({ kind: "lance", uri: folder }, { name: "here", folder });
  try {
    await target.execute({ kind: "createTable", table: "t", columns: columnsOf({ id: int32() }) }, undefined);
    const seen = (await target.describeTable("t"))!;
    // As in an overlay file system, where the first write gives a directory another birth time.
    const first = { ...seen, instance: "another" };
    const table = await (await lancedb.connect(folder)).openTable("t");
    await table.add([{ id: 1 }]);
    expect(await isAnother("t", first, (await target.describeTable("t"))!, target)).toBe(false);
    await table.optimize({ cleanupOlderThan: new Date() });
    expect(await isAnother("t", seen, (await target.describeTable("t"))!, target)).toBe(false);
    expect(await isAnother("t", first, (await target.describeTable("t"))!, target)).toBe(true);
  } finally {
    await target.close();
  }
});

test("a target without versions does not know when one was made", async () => {
  const table = { columns: columnsOf({ id: int32() }) };
  expect(await timeOfVersion("t", { table, version: 1 }, { versions: undefined } as Target)).toBeUndefined();
});
