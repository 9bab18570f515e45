/** A call that does not get through, as others' commits come first each time, on the embedded engine. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { migrationsIn } from "../../src/migrations/source.ts";
import { up } from "../../src/commands/up.ts";
import { int32 } from "../../src/schema/declare/type-builders.ts";
import { createTable, dropColumn, dropTable, renameColumn, setNullable } from "../../src/steps/index.ts";
import type { Step } from "../../src/steps/registry.ts";
import { loadTarget } from "../../src/targets/index.ts";
import { temporaryFolder } from "../support/project.ts";
import { columnsOf, lancedb, rowsOf } from "../support/tables.ts";

interface Course {
  /** When the first call gets through, unless another was done before it. */
  readonly until?: (folder: string) => Promise<unknown>;
  /** What happens once another was done, before the first gets through. */
  readonly meanwhile?: (folder: string) => Promise<unknown>;
}

/** Runs steps whose first call gets through late. How that ended, and the calls and answers in order. */
async function withOneHeld(steps: readonly Step[], { until = never, meanwhile = atOnce }: Course) {
  const folder = temporaryFolder();
  const migrations = join(folder, "migrations");
  mkdirSync(migrations);
  const write = (file: string, up: readonly Step[]) =>
    writeFileSync(join(migrations, file), `export const up = ${JSON.stringify(up)};\n`);
  write("0001_before.mjs", [table]);
  const module = (await loadTarget("lance"))!;
  const target = await module.open({ kind: "lance", uri: folder }, { name: "held", folder });
  const lease = { duration: 30_000, patience: 30_000 };
  const options = { target, migrations: migrationsIn(migrations), ledger: "_migrations", lease };
  await up(options);
  await (await (await lancedb.connect(folder)).openTable("t")).add([{ id: 1, a: 2, b: 3 }]);
  write("0002_step.mjs", steps);
  const course: string[] = [];
  let held: unknown;
  let through = () => {};
  const again = new Promise<void>((resolve) => (through = resolve));
  const execute: typeof target.execute = async (action, seen) => {
    if (action.table !== "t") return await target.execute(action, seen);
    const isFirst = course.length === 0;
    course.push(action.kind);
    try {
      if (isFirst) await Promise.race([again, until(folder)]);
      const version = await target.execute(action, seen);
      course.push("done");
      // Not awaited: the one that was first is late.
      if (!isFirst) void meanwhile(folder).then(through);
      return version;
    } catch (error) {
      held = error;
      course.push("refused");
      throw error;
    }
  };
  const ended = await up({ ...options, target: { ...target, execute } }).catch((error: unknown) => error);
  await target.close();
  return { ended, course, held: String(held), columns: await columnsOf(folder, "t"), rows: await rowsOf(folder, "t") };
}

const table = createTable("t", { id: int32().notNull(), a: int32(), b: int32() });
const rename = renameColumn("t", "a", "c");
const renamed = ["id: int32 not null", "c: int32", "b: int32"];
const never = () => new Promise<never>(() => {});
const atOnce = async () => {};
const soon = async () => await new Promise((resolve) => setTimeout(resolve, 2_500));
const open = async (folder: string) => await (await lancedb.connect(folder)).openTable("t");

test.each([
  ["a rename", rename, "alterColumns", renamed, { id: 1, c: 2, b: 3 }],
  ["a drop", dropColumn("t", "a"), "dropColumns", ["id: int32 not null", "b: int32"], { id: 1, b: 3 }],
] as const)(
  "%s is sent once more beside it, and the engine refuses what comes late",
  async (_, step, kind, columns, row) => {
    const outcome = await withOneHeld([step], {});
    expect(outcome).toMatchObject({ ended: { applied: 1 }, columns, rows: [row] });
    expect(outcome.course).toEqual([kind, kind, "done", "refused"]);
    expect(outcome.held).toMatch(/conflict/i);
  },
);

test("what comes late is refused also when the other has been rolled back since", async () => {
  const back = async (folder: string) => await (await open(folder)).alterColumns([{ path: "c", rename: "a" }]);
  const outcome = await withOneHeld([rename], { meanwhile: back });
  expect(outcome.course).toEqual(["alterColumns", "alterColumns", "done", "refused"]);
  expect(outcome.held).toMatch(/conflict/i);
  expect(outcome.columns).toContain("a: int32");
});

test("the next action is not begun before what comes late has ended: its table could be another one", async () => {
  const outcome = await withOneHeld([rename, dropTable("t"), table], { meanwhile: soon });
  expect(outcome).toMatchObject({ ended: { applied: 1 }, rows: [] });
  expect(outcome.course).toEqual([
    "alterColumns",
    "alterColumns",
    "done",
    "refused",
    "dropTable",
    "done",
    "createTable",
    "done",
  ]);
});

/** With the columns that it has now. */
const recreate = async (folder: string) => {
  const db = await lancedb.connect(folder);
  const schema = await (await db.openTable("t")).schema();
  await db.dropTable("t");
  const made = await db.createEmptyTable("t", schema);
  for (let id = 0; id < 9; id++) await made.add([{ id, b: id }]);
};

test("the run fails when what comes late lands on a table that was recreated since", async () => {
  const meanwhile = async (folder: string) => {
    await soon();
    await (await open(folder)).alterColumns([{ path: "c", rename: "a" }]);
    await recreate(folder);
  };
  const outcome = await withOneHeld([rename], { meanwhile });
  expect(outcome).toMatchObject({ ended: { code: "ERR_TABLE_RECREATED", outcome: "failed" } });
  expect(outcome.course).toEqual(["alterColumns", "alterColumns", "done", "done"]);
  expect(outcome.columns).toContain("a: int32");
  expect(outcome.rows).toHaveLength(9);
});

test("it is not sent once more to a table that was recreated since", async () => {
  const until = async (folder: string) => {
    await recreate(folder);
    await soon();
  };
  const outcome = await withOneHeld([rename], { until });
  expect(outcome).toMatchObject({ ended: { code: "ERR_TABLE_RECREATED" }, course: ["alterColumns", "done"] });
  expect(outcome.columns).toContain("a: int32");
  expect(outcome.rows).toHaveLength(9);
});

test("it is not sent once more when others have changed the table since", async () => {
  const until = async (folder: string) => {
    await (await open(folder)).addColumns([{ name: "other", valueSql: "id" }]);
    await soon();
  };
  const outcome = await withOneHeld([rename], { until });
  expect(outcome).toMatchObject({ ended: { code: "ERR_STEP_FAILED" }, course: ["alterColumns", "refused"] });
  expect(outcome.columns).toContain("a: int32");
});

test("what reads all rows is not done twice at once", async () => {
  const outcome = await withOneHeld([setNullable("t", "a", false)], { until: soon });
  expect(outcome).toMatchObject({ ended: { applied: 1 }, course: ["alterColumns", "done"] });
});
