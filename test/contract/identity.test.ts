/** The times of versions, which identify a table, and what a handle may do to a table that was dropped and recreated. */
import { readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { connect, createEmptyTable } from "../../src/engine/engine.ts";
import { instanceIn } from "../../src/engine/table-instance.ts";
import { openWithTime, versionTime } from "../../src/engine/version-time.ts";
import { columnsOf, int32, utf8 } from "../../src/schema/declare/type-builders.ts";
import { temporaryFolder } from "../support/project.ts";

const shape = columnsOf({ id: int32(), a: utf8() });

async function aTable(versions: number) {
  const folder = temporaryFolder();
  const db = await connect({ uri: folder });
  await createEmptyTable(db, "t", shape);
  const open = async () => await db.openTable("t");
  for (let id = 1; id < versions; id++) await (await open()).add([{ id, a: "a" }]);
  const times = (await (await open()).listVersions()).map(({ version, timestamp }) => [version, timestamp.getTime()]);
  return { folder, open, times, manifests: join(folder, "t.lance", "_versions") };
}

const never = async () => {
  throw new Error("all versions were listed");
};

test("the time of a version is that of the engine's list, and is read without listing", async () => {
  const { folder, times } = await aTable(40);
  const read = times.map(async ([version]) => [version, await versionTime({ folder }, "t", version!, never)]);
  expect(await Promise.all(read)).toEqual(times);
});

test("it is read from manifests that are named in the older way", async () => {
  const { folder, times, manifests } = await aTable(3);
  for (const name of readdirSync(manifests).filter((one) => one.endsWith(".manifest")))
    renameSync(
      join(manifests, name),
      join(manifests, `${2n ** 64n - 1n - BigInt(name.slice(0, -".manifest".length))}.manifest`),
    );
  const read = times.map(async ([version]) => [version, await versionTime({ folder }, "t", version!, never)]);
  expect(await Promise.all(read)).toEqual(times);
});

test.each(["", "LANC", "no manifest at all, but it ends like one: LANC"])(
  "where a manifest can't be read, the engine's list tells (%j)",
  async (content) => {
    const { folder, open, times, manifests } = await aTable(3);
    const table = await open();
    const versions = await table.listVersions();
    for (const name of readdirSync(manifests)) writeFileSync(join(manifests, name), content);
    const listed = async () => Object.assign(Object.create(table), { listVersions: async () => versions });
    expect(await versionTime({ folder }, "t", 2, listed)).toBe(times[1]![1]);
  },
);

test("a version that was cleaned up has no time", async () => {
  const { folder, open } = await aTable(3);
  await (await open()).optimize({ cleanupOlderThan: new Date(Date.now() + 1_000), deleteUnverified: true });
  expect(await versionTime({ folder }, "t", 2, open)).toBeUndefined();
});

test("a table that others commit to whenever it is opened is opened without a time", async () => {
  const { folder, open } = await aTable(3);
  let opened = 0;
  const beside = async () => {
    opened++;
    await (await open()).add([{ id: 0, a: "theirs" }]);
    return await open();
  };
  expect(await openWithTime({ folder }, "t", beside)).toMatchObject({ version: 3 + opened, at: undefined });
});

test("a table that others commit to once is opened with the time of its newest version", async () => {
  const { folder, open } = await aTable(3);
  let opened = 0;
  const beside = async () => {
    if (++opened === 2) await (await open()).add([{ id: 0, a: "theirs" }]);
    return await open();
  };
  const { version, at } = (await openWithTime({ folder }, "t", beside))!;
  expect([version, at]).toEqual([4, await versionTime({ folder }, "t", 4, never)]);
});

test("a table keeps its instance, and one that is dropped and recreated has another", async () => {
  const { folder, open } = await aTable(3);
  const instance = await instanceIn(folder, "t");
  expect(instance).toMatch(/^\d+ \d+ \d+$/);
  const table = await open();
  await table.alterColumns([{ path: "a", rename: "b" }]);
  await table.optimize({ cleanupOlderThan: new Date(Date.now() + 1_000), deleteUnverified: true });
  await table.createIndex("id");
  expect(await instanceIn(folder, "t")).toBe(instance);
  const seen = new Set([instance]);
  const db = await connect({ uri: folder });
  for (let times = 0; times < 20; times++) {
    await db.dropTable("t");
    expect(await instanceIn(folder, "t")).toBeUndefined();
    await createEmptyTable(db, "t", shape);
    seen.add(await instanceIn(folder, "t"));
  }
  expect(seen.size).toBe(21);
});
