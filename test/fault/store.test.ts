/** What the embedded engine does in an object store, by its own store on a folder: there a version's time takes a list of all versions. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Table } from "@lancedb/lancedb";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { migrationsIn } from "../../src/migrations/source.ts";
import { up } from "../../src/commands/up.ts";
import { int32, utf8 } from "../../src/schema/declare/type-builders.ts";
import { createTable, renameColumn } from "../../src/steps/index.ts";
import type { Step } from "../../src/steps/registry.ts";
import { loadTarget } from "../../src/targets/index.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import { temporaryFolder } from "../support/project.ts";
import { columnsOf, lancedb, rowsOf } from "../support/tables.ts";

afterEach(() => vi.restoreAllMocks());

const table = createTable("t", { id: int32().notNull(), a: utf8() });

async function aStore(steps: readonly Step[]) {
  const folder = temporaryFolder();
  const migrations = join(folder, "migrations");
  mkdirSync(migrations);
  const write = (file: string, steps: readonly Step[]) =>
    writeFileSync(join(migrations, file), `export const up = ${JSON.stringify(steps)};\n`);
  const module = (await loadTarget("lance"))!;
  const target = await module.open(
    { kind: "lance", uri: `file-object-store://${folder}`, answerSeconds: 10 },
    { name: "test", folder },
  );
  onTestFinished(() => target.close());
  const run = async (more?: Partial<Target>) =>
    await up({
      target: { ...target, ...more },
      migrations: migrationsIn(migrations),
      ledger: "_migrations",
      lease: { duration: 30_000, patience: 30_000 },
    }).catch((error: unknown) => error);
  const handle = async () => await (await lancedb.connect(folder)).openTable("t");
  write("0001_before.mjs", [table]);
  expect(await run()).toMatchObject({ applied: 1 });
  await (await handle()).add([{ id: 1, a: "old" }]);
  write("0002_step.mjs", steps);
  return { folder, target, run, handle };
}

/** Another writer commits while all versions are listed, each time. */
function committingWhileListed(table: Table) {
  const path = Object.getPrototypeOf(table) as Table;
  const list = path.listVersions;
  let id = 100;
  return vi.spyOn(path, "listVersions").mockImplementation(async function (this: Table) {
    await table.add([{ id: id++, a: "theirs" }]).catch(() => table.checkoutLatest());
    return await list.call(this);
  });
}

test("a look lists no versions, also where others commit without pause", async () => {
  const { target, handle } = await aStore([]);
  const listing = committingWhileListed(await handle());
  expect(await target.describeTable("t")).toMatchObject({ version: 2 });
  expect(listing).not.toHaveBeenCalled();
});

test("a rename gets through beside a writer that commits whenever all versions are listed", async () => {
  const { folder, run, handle } = await aStore([renameColumn("t", "a", "b")]);
  committingWhileListed(await handle());
  expect(await run()).toMatchObject({ applied: 1 });
  expect(await columnsOf(folder, "t")).toEqual(["id: int32 not null", "b: utf8"]);
});

test("a rename that lands on a table which was recreated with fewer versions is undone, and the run fails", async () => {
  const { folder, run, target } = await aStore([renameColumn("t", "a", "b")]);
  const execute: Target["execute"] = async (action, seen) => {
    if (action.table === "t") {
      const db = await lancedb.connect(folder);
      const schema = await (await db.openTable("t")).schema();
      await db.dropTable("t");
      await db.createTable("t", [{ id: 9, a: "theirs" }], { schema });
    }
    return await target.execute(action, seen);
  };
  const error = await run({ execute });
  expect(error).toMatchObject({ code: "ERR_TABLE_RECREATED", outcome: "failed" });
  expect(await rowsOf(folder, "t")).toEqual([{ id: 9, a: "theirs" }]);
});
