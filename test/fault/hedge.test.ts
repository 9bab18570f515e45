/** A call that does not get through, as others' commits come first each time, on the embedded engine. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { migrationsIn } from "../../src/migrations/source.ts";
import { up } from "../../src/run/migrator.ts";
import { int32 } from "../../src/schema/builders.ts";
import { createTable, dropColumn, renameColumn, setNullable } from "../../src/steps/index.ts";
import type { Step } from "../../src/steps/registry.ts";
import { loadTarget } from "../../src/targets/index.ts";
import { temporaryFolder } from "../support/project.ts";
import { columnsOf, lancedb, rowsOf } from "../support/tables.ts";

/** What became of the call that did not get through, in words. */
type Held = "done" | string;

/** Runs a step whose first call of its kind gets through only when `until` says so; how that ended, and how many there were. */
async function withOneHeld(step: Step, until: (folder: string) => Promise<unknown>) {
  const folder = temporaryFolder();
  const migrations = join(folder, "migrations");
  mkdirSync(migrations);
  const first = [createTable("t", { id: int32().notNull(), a: int32(), b: int32() })];
  writeFileSync(join(migrations, "0001_before.mjs"), `export const up = ${JSON.stringify(first)};\n`);
  const module = (await loadTarget("lance"))!;
  const target = await module.open(module.options.parse({ kind: "lance", uri: folder }), { name: "held", folder });
  const options = {
    target,
    migrations: migrationsIn(migrations),
    ledger: "_migrations",
    lease: { duration: 30_000, patience: 30_000 },
  };
  await up(options);
  await (await (await lancedb.connect(folder)).openTable("t")).add([{ id: 1, a: 2, b: 3 }]);
  writeFileSync(join(migrations, "0002_step.mjs"), `export const up = ${JSON.stringify([step])};\n`);
  let calls = 0;
  let held: Promise<Held> | undefined;
  let through = () => {};
  const again = new Promise<void>((resolve) => (through = resolve));
  const execute: typeof target.execute = async (action, seen) => {
    if (action.table !== "t") return await target.execute(action, seen);
    if (calls++ === 0) {
      const late = Promise.race([again, until(folder)]).then(async () => await target.execute(action, seen));
      held = late.then(
        () => "done",
        (error) => String(error),
      );
      return await late;
    }
    const version = await target.execute(action, seen);
    through();
    return version;
  };
  const ended = await up({ ...options, target: { ...target, execute } }).catch((error: unknown) => error);
  const outcome = { ended, calls, held: await held!, columns: await columnsOf(folder, "t") };
  await target.close();
  return { ...outcome, rows: await rowsOf(folder, "t") };
}

const never = () => new Promise<never>(() => {});

test.each([
  ["a rename", renameColumn("t", "a", "c"), ["id: int32 not null", "c: int32", "b: int32"], { id: 1, c: 2, b: 3 }],
  ["a drop", dropColumn("t", "a"), ["id: int32 not null", "b: int32"], { id: 1, b: 3 }],
] as const)("%s is sent once more beside it, and the engine refuses what comes late", async (_, step, columns, row) => {
  const outcome = await withOneHeld(step, never);
  expect(outcome).toMatchObject({ ended: { applied: 1 }, calls: 2, columns, rows: [row] });
  expect(outcome.held).toMatch(/conflict/i);
});

test("it is not sent once more when others have changed the table since", async () => {
  const addOther = async (folder: string) => {
    const table = await (await lancedb.connect(folder)).openTable("t");
    await table.addColumns([{ name: "other", valueSql: "id" }]);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
  };
  const outcome = await withOneHeld(renameColumn("t", "a", "c"), addOther);
  expect(outcome).toMatchObject({ ended: { code: "ERR_STEP_FAILED" }, calls: 1 });
  expect(outcome.columns).toContain("a: int32");
});

test("what reads all rows is not done twice at once", async () => {
  const soon = () => new Promise((resolve) => setTimeout(resolve, 1_500));
  const outcome = await withOneHeld(setNullable("t", "a", false), soon);
  expect(outcome).toMatchObject({ ended: { applied: 1 }, calls: 1, held: "done" });
});
