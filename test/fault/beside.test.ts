/** What an application does to a table between two commits of a step. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Connection, Table } from "@lancedb/lancedb";
import { expect, test } from "vitest";
import { migrationsIn } from "../../src/migrations/source.ts";
import { up } from "../../src/run/migrator.ts";
import type { Action, ActionKind } from "../../src/schema/action.ts";
import { int32, int64, utf8 } from "../../src/schema/builders.ts";
import { createTable, retypeColumn } from "../../src/steps/index.ts";
import type { Step } from "../../src/steps/registry.ts";
import { loadTarget } from "../../src/targets/index.ts";
import type { Target } from "../../src/targets/target.ts";
import { temporaryFolder } from "../support/project.ts";
import { belongingsOf, columnsOf as columnsIn, lancedb, rowsOf } from "../support/tables.ts";

interface World {
  readonly folder: string;
  /** Runs `up`; `meet` happens once, after the first action of that kind. */
  run(after?: ActionKind, meet?: (table: Table) => Promise<unknown>): Promise<unknown>;
}

async function aWorld(columns: Parameters<typeof createTable>[1], rows: readonly object[], step: Step): Promise<World> {
  const folder = temporaryFolder();
  const migrations = join(folder, "migrations");
  mkdirSync(migrations);
  const write = (file: string, up: Step) =>
    writeFileSync(join(migrations, file), `export const up = ${JSON.stringify([up])};\n`);
  const run: World["run"] = async (after, meet) => {
    const module = (await loadTarget("lance"))!;
    const target = await module.open(module.options.parse({ kind: "lance", uri: folder }), { name: "beside", folder });
    try {
      return await up({
        target: after === undefined ? target : meeting(target, after, async () => await meet!(await open(folder))),
        migrations: migrationsIn(migrations),
        ledger: "_migrations",
        lease: { duration: 5_000, patience: 5_000 },
      });
    } catch (error) {
      return error;
    } finally {
      await target.close();
    }
  };
  write("0001_before.mjs", createTable("t", columns));
  await run();
  await (await open(folder)).add(rows as Record<string, unknown>[]);
  write("0002_step.mjs", step);
  return { folder, run };
}

async function open(folder: string): Promise<Table> {
  const db: Connection = await lancedb.connect(folder);
  return await db.openTable("t");
}

function meeting(target: Target, kind: ActionKind, meet: () => Promise<unknown>): Target {
  let met = false;
  return {
    ...target,
    async execute(action: Action, seen) {
      const version = await target.execute(action, seen);
      if (action.kind === kind && !met) {
        met = true;
        await meet();
      }
      return version;
    },
  };
}

const rows = [
  { id: 1, s: "1" },
  { id: 2, s: "2" },
];
const anew = retypeColumn("t", "s", int64(), { using: "cast(s as bigint)" });
const columns = { id: int32().notNull(), s: utf8() };

test("an index that an application makes while its column is retyped stops the step, which takes back what it did", async () => {
  const numbers = { id: int32().notNull(), s: int32() };
  const { folder, run } = await aWorld(numbers, [{ id: 1, s: 1 }], retypeColumn("t", "s", int64()));
  const failed = await run("addColumns", async (table) => await table.createIndex("s"));
  expect(failed).toMatchObject({ code: "ERR_STEP_FAILED" });
  expect(await columnsIn(folder, "t")).toEqual(["id: int32 not null", "s: int32"]);
  expect(await run()).toMatchObject({ applied: 1 });
  expect(await columnsIn(folder, "t")).toEqual(["id: int32 not null", "s: int64"]);
  expect(await belongingsOf(folder, "t")).toMatchObject({ indexes: { s_idx: { kind: "btree" } } });
});

test("an update right after a column was added is in it when it takes the place of the old one", async () => {
  const { folder, run } = await aWorld(columns, rows, anew);
  const update = async (table: Table) => await table.update({ valuesSql: { s: "'999'" }, where: "id = 1" });
  expect(await run("addColumns", update)).toMatchObject({ applied: 1 });
  expect((await rowsOf(folder, "t")).map((row) => Number(row["s"])).toSorted()).toEqual([2, 999]);
});

test("where such an update can't be worked out, the table is as it was", async () => {
  const { folder, run } = await aWorld(columns, rows, anew);
  const failed = await run(
    "addColumns",
    async (table) => await table.update({ valuesSql: { s: "'abc'" }, where: "id = 1" }),
  );
  expect(failed).toMatchObject({ code: "ERR_STEP_FAILED" });
  expect(await columnsIn(folder, "t")).toEqual(["id: int32 not null", "s: utf8"]);
  await (await open(folder)).add([{ id: 3, s: "3" }]);
});
