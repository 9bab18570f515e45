/** What others give a table in the moment in which an old version of it is restored. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { migrationsIn } from "../../src/migrations/source.ts";
import { down } from "../../src/commands/down.ts";
import { up } from "../../src/commands/up.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import { int32, utf8 } from "../../src/schema/declare/type-builders.ts";
import { createTable, dropColumn, insertRows } from "../../src/steps/index.ts";
import type { Step } from "../../src/steps/registry.ts";
import { open as openLance } from "../../src/targets/lance/lance.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import { temporaryFolder } from "../support/project.ts";
import { belongingsOf, lancedb } from "../support/tables.ts";

const steps: Readonly<Record<string, readonly Step[]>> = {
  "a dropped column": [dropColumn("t", "b")],
  "inserted rows": [insertRows("t", [{ a: 7, b: "g" }], { key: "a" })],
};

/** A table with rows, and a second migration that `down` rolls back by an old version. */
async function migrated(second: readonly Step[]) {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "m"));
  const write = (name: string, up: readonly Step[]) =>
    writeFileSync(
      join(folder, "m", `${name}.ts`),
      `export const accepts = ["lossy"];\nexport const up = ${JSON.stringify(up)};\n`,
    );
  const target = await openLance({ kind: "lance", uri: folder }, { name: "test", folder });
  const options: MigratorOptions = {
    target,
    migrations: migrationsIn(join(folder, "m")),
    ledger: "_migrations",
    lease: { duration: 30_000, patience: 30_000 },
  };
  write("0001_create", [createTable("t", { a: int32(), b: utf8() })]);
  await up(options);
  const table = await (await lancedb.connect(folder)).openTable("t");
  await table.add([{ a: 1, b: "1" }]);
  write("0002_lossy", second);
  await up(options);
  const latest = async () => {
    await table.checkoutLatest();
    return table;
  };
  return { folder, target, options, latest };
}

async function give(latest: () => Promise<import("@lancedb/lancedb").Table>): Promise<void> {
  const table = await latest();
  await table.updateFieldMetadata([{ path: "a", metadata: { owner: "app" } }]);
  await table.createIndex("a", { config: lancedb.Index.btree(), name: "theirs" });
}

const all = { indexes: { theirs: { path: "a", kind: "btree" } }, metadata: { a: { owner: "app" } } };

test.each(Object.entries(steps))("%s: what comes after the last look is put back too", async (_, second) => {
  const { folder, target, options, latest } = await migrated(second);
  const execute: Target["execute"] = async (action, seen) => {
    if (action.kind === "restoreTable") await give(latest);
    return await target.execute(action, seen);
  };
  expect(await down({ ...options, target: { ...target, execute } })).toMatchObject({ reverted: 1 });
  expect(await belongingsOf(folder, "t")).toMatchObject(all);
});

test("what the engine refuses to put back is named once with the version that holds it, and the rest is put back", async () => {
  const { folder, target, options, latest } = await migrated(steps["a dropped column"]!);
  await give(latest);
  const source = await (await latest()).version();
  const execute: Target["execute"] = async (action, seen) => {
    if (action.kind === "createIndex") throw new Error("there is no room");
    return await target.execute(action, seen);
  };
  await expect(down({ ...options, target: { ...target, execute } })).rejects.toMatchObject({
    code: "ERR_METADATA_LOST",
    message:
      "0002_lossy, action 1: t was restored without what others had given it since: index theirs on a (btree), which could " +
      `not be put back (there is no room); version ${source} still holds that; check that, then run the command again`,
  });
  expect(await belongingsOf(folder, "t")).toMatchObject({ indexes: {}, metadata: all.metadata });
  expect(await down(options)).toMatchObject({ reverted: 1 });
});

test.each(Object.entries(steps))(
  "%s: a version that was cleaned up in that moment is no silent loss",
  async (_, second) => {
    const { target, options, latest } = await migrated(second);
    const execute: Target["execute"] = async (action, seen) => {
      if (action.kind !== "restoreTable") return await target.execute(action, seen);
      await give(latest);
      const made = await target.execute(action, seen);
      await (await latest()).optimize({ cleanupOlderThan: new Date() });
      return made;
    };
    await expect(down({ ...options, target: { ...target, execute } })).rejects.toMatchObject({
      message: expect.stringMatching(
        /metadata and indexes that others had given t after version \d+ and before version 2 was restored are lost is unknown/,
      ),
    });
  },
);

test.each(Object.entries(steps))(
  "%s: what was seen is put back whatever is cleaned up after that",
  async (_, second) => {
    const { folder, target, options, latest } = await migrated(second);
    await give(latest);
    const execute: Target["execute"] = async (action, seen) => {
      const made = await target.execute(action, seen);
      if (action.kind !== "restoreTable") return made;
      // The newest version is never cleaned up.
      const table = await latest();
      await table.updateFieldMetadata([{ path: "b", metadata: { owner: "app" } }]);
      await table.optimize({ cleanupOlderThan: new Date() });
      return made;
    };
    expect(await down({ ...options, target: { ...target, execute } }, { accept: ["lossy"] })).toMatchObject({
      reverted: 1,
    });
    expect(await belongingsOf(folder, "t")).toMatchObject(all);
  },
);
