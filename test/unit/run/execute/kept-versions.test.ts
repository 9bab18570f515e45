/** Which versions a run keeps for the way back, under which names, and when it releases them: on tables of the engine. */
import { expect, test } from "vitest";
import { MigrateError } from "../../../../src/errors/migrate-error.ts";
import type { PlannedMigration } from "../../../../src/plan/make-plan.ts";
import { keepRenumbered, releaseRestorePoints, restorePoints } from "../../../../src/run/execute/restore-points.ts";
import { columnsOf, int32 } from "../../../../src/schema/declare/type-builders.ts";
import { open } from "../../../../src/targets/lance/lance.ts";
import type { Target } from "../../../../src/targets/contract/target.ts";
import type { Versions } from "../../../../src/targets/contract/versions.ts";
import { aMigration } from "../../../simulate/history.ts";
import { temporaryFolder } from "../../../support/project.ts";
import { lancedb } from "../../../support/tables.ts";

type Keeping = Parameters<typeof restorePoints>[1];

/** Tables `t` and `u`, each at version 1, and what a run of epoch 3 keeps of them for migration 2. */
async function aScene() {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  const create = async (table: string) =>
    await target.execute({ kind: "createTable", table, columns: columnsOf({ id: int32() }) }, undefined);
  for (const table of ["t", "u"]) await create(table);
  const handle = async (table: string) => await (await lancedb.connect(folder)).openTable(table);
  const write = async (table = "t") => void (await (await handle(table)).add([{ id: 1 }]));
  const recreate = async () => {
    await (await lancedb.connect(folder)).dropTable("t");
    await create("t");
  };
  const events: object[] = [];
  const keep = async (planned: Partial<PlannedMigration>, more: Partial<Keeping> = {}) => {
    const place = { file: "0002_x.ts", step: 1, kind: "dropColumn" };
    const begun = { migration: aMigration(2, []), actions: [{ place }], restores: ["t"], tables: {}, done: 0 };
    return await restorePoints({ ...begun, ...planned } as unknown as PlannedMigration, {
      target,
      lease: { check: async () => {}, epoch: () => 3 },
      emit: (event) => void events.push(event),
      ledger: "_migrations",
      ...more,
    });
  };
  const kept = async (table = "t") => (await target.versions!.kept(table)).map(({ name }) => name).toSorted();
  const time = async (version: number) => (await target.versions!.time("t", version))!;
  return { target, keep, kept, time, write, recreate, clean, events };

  async function clean() {
    await (await handle("t")).optimize({ cleanupOlderThan: new Date(Date.now() + 1_000), deleteUnverified: true });
  }
}

const withVersions = (target: Target, more: Partial<Versions>): Target => ({
  ...target,
  versions: { ...target.versions!, ...more },
});

test("the newest version is kept under the number of the migration, the version and the epoch", async () => {
  const { target, keep, kept, time, write } = await aScene();
  await write();
  expect(await keep({})).toEqual({ t: [2, null, false, [await time(2), null]] });
  expect(await kept()).toEqual(["0002.v2.e3"]);
  expect(await keep({}, { ledger: "_others" })).toMatchObject({ t: [2, null, false, {}] });
  expect(await kept()).toEqual(["0002.v2.e3", "0002.v2.e3-_others"]);
  await target.close();
});

test.each<[string, Partial<PlannedMigration>]>([
  ["no version is restored", { restores: [] }],
  ["an action is done", { done: 1 }],
  ["an action has begun", { midway: { step: "", commit: 1, indexes: {}, metadata: {} } }],
])("nothing is kept if %s", async (_, planned) => {
  const { target, keep, kept } = await aScene();
  expect(await keep(planned)).toBeUndefined();
  expect(await kept()).toEqual([]);
  await target.close();
});

test("nothing is kept where the target has no versions", async () => {
  const { target, keep } = await aScene();
  expect(await keep({}, { target: { ...target, versions: undefined } })).toBeUndefined();
  await target.close();
});

test("a run that was killed after its first call has recorded the version before it, and that stays the one to restore", async () => {
  const { target, keep, kept, time, write } = await aScene();
  const known = { t: [1, null, false, [await time(1), null]] } as const;
  await target.versions!.keep("t", 1, "0002.v1.e1");
  await write();
  expect(await keep({ inDoubt: true, tables: known })).toBeUndefined();
  expect(await kept()).toEqual(["0002.v1.e1"]);
  await target.close();
});

test("a migration that begins again keeps the newest version, whatever an earlier run has recorded", async () => {
  const { target, keep, kept, time, write } = await aScene();
  const known = { t: [1, null, false, [await time(1), null]] } as const;
  await write();
  expect(await keep({ tables: known })).toMatchObject({ t: [2, null, false, {}] });
  expect(await kept()).toEqual(["0002.v2.e3"]);
  await target.close();
});

test("a recorded version of a table that was dropped and recreated since is not the one to restore", async () => {
  const { target, keep, kept, time, recreate, write } = await aScene();
  const known = { t: [1, null, false, [await time(1), null]] } as const;
  await recreate();
  await write();
  expect(await keep({ inDoubt: true, tables: known })).toMatchObject({ t: [2, null, false, {}] });
  expect(await kept()).toEqual(["0002.v2.e3"]);
  await target.close();
});

test("of a recorded version whose time is unknown it can't be known that the table was recreated, so it stays", async () => {
  const { target, keep, recreate, write } = await aScene();
  await recreate();
  await write();
  expect(await keep({ inDoubt: true, tables: { t: [1, null] } })).toBeUndefined();
  await target.close();
});

test("a later version that a run kept without recording it is the one to restore", async () => {
  const { target, keep, kept, time, write } = await aScene();
  const known = { t: [1, null, false, [await time(1), null]] } as const;
  for (let version = 2; version <= 5; version++) await write();
  for (const [version, name] of [
    [1, "0002.v1.e1"],
    [3, "0002.v3.e2"],
    [2, "0002.v2.e2"],
    [4, "0003.v4.e2"],
    [5, "0002.v5.e2-_others"],
  ] as const)
    await target.versions!.keep("t", version, name);
  expect(await keep({ inDoubt: true, tables: known })).toEqual({ t: [3, null, false, [await time(3), null]] });
  expect(await kept()).toHaveLength(5);
  await target.close();
});

test("a later version that is kept replaces only that of its own table", async () => {
  const { target, keep, write, kept } = await aScene();
  const known = { t: [1, null], u: [1, null] } as const;
  await write();
  await target.versions!.keep("t", 2, "0002.v2.e2");
  const found = await keep({ inDoubt: true, restores: ["t", "u"], tables: known });
  expect(found).toEqual({ t: [2, null, false, [expect.any(Number), null]], u: [1, null] });
  expect(await kept("u")).toEqual([]);
  await target.close();
});

test("of two tables only the one without a recorded version is kept", async () => {
  const { target, keep, kept, write } = await aScene();
  await write();
  await write("u");
  const found = await keep({ inDoubt: true, restores: ["t", "u"], tables: { t: [1, null] } });
  expect(found).toEqual({ t: [1, null], u: [2, null, false, [expect.any(Number), null]] });
  expect([await kept(), await kept("u")]).toEqual([[], ["0002.v2.e3"]]);
  await target.close();
});

test("of a table that did not exist before the migration no version is looked for", async () => {
  const { target, keep, kept } = await aScene();
  await target.versions!.keep("t", 1, "0002.v1.e1");
  expect(await keep({ inDoubt: true, tables: { t: [null, null] } })).toBeUndefined();
  expect(await keep({ restores: ["none"] })).toEqual({});
  expect(await kept()).toEqual(["0002.v1.e1"]);
  await target.close();
});

test("a recorded version stays the one to restore where kept versions can't be listed", async () => {
  const { target, keep } = await aScene();
  const broken = withVersions(target, { kept: async () => await Promise.reject(new Error("no list")) });
  expect(await keep({ inDoubt: true, tables: { t: [1, null] } }, { target: broken })).toBeUndefined();
  await target.close();
});

test("a run that lost its lease while it described the table keeps nothing", async () => {
  const { target, keep, kept } = await aScene();
  let isDescribed = false;
  const describeTable: Target["describeTable"] = async (...asked) => {
    isDescribed = true;
    return await target.describeTable(...asked);
  };
  const check = async () => {
    if (isDescribed) throw new Error("the lease is lost");
  };
  const lease = { check, epoch: () => 3 };
  await expect(keep({}, { target: { ...target, describeTable }, lease })).rejects.toThrow("the lease is lost");
  expect(await kept()).toEqual([]);
  await target.close();
});

test("a version that others cleaned up before it was kept is replaced by the next one", async () => {
  const { target, keep: keepPoints, kept, write, clean } = await aScene();
  let tries = 0;
  const keep: Versions["keep"] = async (...given) => {
    if (++tries === 1) {
      await write();
      await clean();
    }
    await target.versions!.keep(...given);
  };
  const found = await keepPoints({}, { target: withVersions(target, { keep }) });
  const newest = (await target.describeTable("t"))!.version!;
  expect(found).toMatchObject({ t: [newest, null, false, {}] });
  expect(await kept()).toEqual([`0002.v${newest}.e3`]);
  await target.close();
});

const refusing = async () => await Promise.reject(new Error("no space"));

test("a version that can't be kept although it is the newest is not tried again", async () => {
  const { target, keep } = await aScene();
  let tries = 0;
  const refuse: Versions["keep"] = async () => {
    tries++;
    await refusing();
  };
  await keep({}, { target: withVersions(target, { keep: refuse }) });
  expect(tries).toBe(1);
  await target.close();
});

test("a version that can't be kept stops a migration that may lose nothing, and is reported by others", async () => {
  const { target, keep, events } = await aScene();
  const given = { target: withVersions(target, { keep: refusing }) };
  await expect(keep({}, { ...given, mayLoseVersion: () => false })).rejects.toMatchObject({
    code: "ERR_VERSION_UNKEPT",
  });
  expect(events).toEqual([]);
  expect(await keep({}, given)).toMatchObject({ t: [1, null, false, {}] });
  expect(await keep({}, { ...given, mayLoseVersion: () => true })).toMatchObject({ t: [1, null, false, {}] });
  const unkept = { event: "unkept", version: 2, name: "drawn", table: "t", problem: "no space" };
  expect(events).toEqual([unkept, unkept]);
  await target.close();
});

test("a version that can't be kept is reported also if others write all the time", async () => {
  const { target, keep: keepPoints, write, events } = await aScene();
  const keep = async () => {
    await write();
    throw new Error("no space");
  };
  await keepPoints({}, { target: withVersions(target, { keep }) });
  expect(events).toHaveLength(1);
  await target.close();
});

test.each([
  new MigrateError("ERR_TARGET_UNREACHABLE", { target: "test", problem: "no route" }),
  new MigrateError("ERR_CREDENTIALS", { target: "test", problem: "no key" } as never),
])("a run whose target does not answer has not kept a version: $code", async (error) => {
  const { target, keep, events } = await aScene();
  const silent = withVersions(target, { keep: async () => await Promise.reject(error) });
  await expect(keep({}, { target: silent })).rejects.toBe(error);
  expect(events).toEqual([]);
  await target.close();
});

test("a migration that gets another number keeps its versions under that, and the old names go when that is recorded", async () => {
  const { target, kept, write } = await aScene();
  for (let version = 2; version <= 5; version++) await write();
  for (const [version, name] of [
    [2, "0002.v2.e1"],
    // Kept by another run, before it was killed.
    [2, "0002.v2.e2"],
    [4, "0003.v4.e1"],
    // Kept by a run that was killed while it renumbered.
    [2, "0003.v2.e2"],
    [3, "0007.v3.e1"],
    [2, "0002.v2.e1-_others"],
  ] as const)
    await target.versions!.keep("t", version, name);
  const renumbered = [
    { version: 3, known: { version: 2, tables: { t: [2, 3] } } },
    { version: 4, known: { version: 3, tables: { t: [4, 5] } } },
  ] as const;
  const release = await keepRenumbered(renumbered, target, "_migrations", 6);
  const stay = ["0002.v2.e1-_others", "0003.v2.e2", "0003.v2.e6", "0004.v4.e6", "0007.v3.e1"];
  expect(await kept()).toEqual([...stay, "0002.v2.e1", "0002.v2.e2", "0003.v4.e1"].toSorted());
  await release();
  expect(await kept()).toEqual(stay);
  await target.close();
});

test("old names that can't be released do not stop a run that has recorded the new numbers", async () => {
  const { target, kept } = await aScene();
  await target.versions!.keep("t", 1, "0002.v1.e1");
  const broken = withVersions(target, { release: refusing });
  const renumbered = [{ version: 3, known: { version: 2, tables: { t: [1, 2] } } }] as const;
  await (
    await keepRenumbered(renumbered, broken, "_migrations", 6)
  )();
  expect(await kept()).toEqual(["0002.v1.e1", "0003.v1.e6"]);
  await target.close();
});

test("nothing is listed if no migration gets another number", async () => {
  await (
    await keepRenumbered([], { versions: {} } as unknown as Target, "_migrations", 6)
  )();
  const renumbered = [{ version: 3, known: { version: 2, tables: { t: [1, 2] } } }] as const;
  await (
    await keepRenumbered(renumbered, {} as Target, "_migrations", 6)
  )();
});

const reverted = { migration: aMigration(2, []), tables: { t: [1, 2] } } as unknown as PlannedMigration;

test("of a migration that is rolled back the versions are released that this run or an earlier one has kept", async () => {
  const { target, kept, write } = await aScene();
  await write();
  for (const [version, name] of [
    [1, "0002.v1.e1"],
    [2, "0002.v2.e4"],
    [2, "0002.v2.e5"],
    [1, "0003.v1.e1"],
    [1, "0002.v1.e1-_others"],
  ] as const)
    await target.versions!.keep("t", version, name);
  await target.versions!.keep("u", 1, "0002.v1.e1");
  await releaseRestorePoints(reverted, target, "_migrations", 4);
  expect(await kept()).toEqual(["0002.v1.e1-_others", "0002.v2.e5", "0003.v1.e1"]);
  // The migration has not recorded that table.
  expect(await kept("u")).toEqual(["0002.v1.e1"]);
  await target.close();
});

test.each<[string, Partial<Versions>]>([
  ["listed", { kept: refusing }],
  ["released", { release: refusing }],
])("kept versions that can't be %s are left to prune", async (_, more) => {
  const { target, kept } = await aScene();
  await target.versions!.keep("t", 1, "0002.v1.e1");
  await releaseRestorePoints(reverted, withVersions(target, more), "_migrations", 4);
  expect(await kept()).toEqual(["0002.v1.e1"]);
  await target.close();
});
