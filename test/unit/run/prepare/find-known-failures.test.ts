/** Which questions about rows a run asks before it changes anything: as few as possible, since tables may be large. */
import {
  addColumn,
  createIndex,
  createTable,
  decimal128,
  dropTable,
  fm,
  fts,
  int32,
  int64,
  ivfFlat,
  ivfRq,
  retypeColumn,
  setNullable,
  struct,
  utf8,
  vector,
} from "lance-migrate";
import type { Step } from "lance-migrate";
import { expect, test } from "vitest";
import { plan } from "../../../../src/commands/plan.ts";
import { up } from "../../../../src/commands/up.ts";
import { showsItself } from "../../../../src/plan/assess/known-failures.ts";
import type { PlannedMigration } from "../../../../src/plan/make-plan.ts";
import type { IndexType } from "../../../../src/schema/table-index.ts";
import { open } from "../../../../src/targets/lance/lance.ts";
import type { Target } from "../../../../src/targets/contract/target.ts";
import { aMigration } from "../../../simulate/history.ts";
import { sourceOf } from "../../../simulate/start-run.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";
import { temporaryFolder } from "../../../support/project.ts";

const columns = { id: int64().notNull(), a: int64(), v: vector(2) };
const rows = [
  { id: 1, a: 1, v: [1, 2] },
  { id: 2, a: 2, v: [3, 4] },
];

/** What each command asks about rows, if these steps are the second migration. */
async function asked(
  steps: readonly Step[],
  command: typeof up | typeof plan = up,
  isFenced = true,
): Promise<readonly string[]> {
  const folder = temporaryFolder();
  const engine = await open({ kind: "lance", uri: folder }, { name: "local", folder });
  const questions: string[] = [];
  const countRows: Target["countRows"] = async (table, predicate, version, most) => {
    questions.push(most === undefined ? predicate! : `${predicate}, up to ${most}`);
    return await engine.countRows!(table, predicate, version, most);
  };
  const first = aMigration(1, [
    createTable("t", columns, { rows }),
    addColumn("t", "price", decimal128(10, 2).notNull(), { as: "1.25" }),
  ]);
  const options = { ledger: "_migrations", lease: { duration: 600_000, patience: 0 } };
  await up({ ...options, target: engine, migrations: sourceOf([first]) });
  const target: Target = { ...engine, countRows, capabilities: { ...engine.capabilities, fences: isFenced } };
  await command({ ...options, target, migrations: sourceOf([first, aMigration(2, steps)]) });
  await engine.close();
  return questions;
}

test.each<[string, Step]>([
  ["a new column", addColumn("t", "n", int64(), { as: "a * 2" })],
  ["a retype that some values may not fit", retypeColumn("t", "id", int32())],
  ["a column that becomes not null", setNullable("t", "a", false)],
])("the call itself shows whether %s fails, if it is the first of the run", async (_, step) => {
  expect(await asked([step])).toEqual([]);
  expect(await asked([step], plan)).toHaveLength(1);
  expect(await asked([addColumn("t", "first", int32()), step])).toHaveLength(1);
  // A service may accept what the engine refuses.
  expect(await asked([step], up, false)).toHaveLength(1);
});

test.each<[string, Step]>([
  ["a new column that is not null takes two commits", addColumn("t", "n", int64().notNull(), { as: "a * 2" })],
  ["a nullable column that becomes narrower takes three commits", retypeColumn("t", "a", int32())],
  ["a retype that may lose digits first keeps a version", retypeColumn("t", "price", decimal128(8, 1))],
])("%s, so its rows are asked once before", async (_, step) => {
  expect(await asked([step])).toHaveLength(1);
});

test("if a later step is refused, the first one is too, and it is the one that is named", async () => {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "local", folder });
  const options = { target, ledger: "_migrations", lease: { duration: 600_000, patience: 0 }, guards: {} };
  const first = aMigration(1, [
    createTable("t", columns, { rows: [...rows, { id: 9, a: null, v: [5, 6] }] }),
    createTable("u", columns),
  ]);
  await up({ ...options, migrations: sourceOf([first]) });
  const both = [setNullable("t", "a", false), dropTable("u")];
  const failing = { code: "ERR_STEP_WOULD_FAIL", details: { step: 1 } };
  await expect(up({ ...options, migrations: sourceOf([first, aMigration(2, both)]) })).rejects.toMatchObject(failing);
  await target.close();
});

test("a field is not added to a table in a format in which structs get none, and the format is named", async () => {
  const folder = temporaryFolder();
  const old = { kind: "lance", uri: folder, newTables: { dataStorageVersion: "2.1" } } as const;
  const target = await open(old, { name: "local", folder });
  const options = { target, ledger: "_migrations", lease: { duration: 600_000, patience: 0 } };
  const first = aMigration(1, [createTable("t", { s: struct({ a: int64() }) })]);
  await up({ ...options, migrations: sourceOf([first]) });
  const second = aMigration(2, [addColumn("t", "s.b", int64())]);
  await expect(up({ ...options, migrations: sourceOf([first, second]) })).rejects.toMatchObject({
    code: "ERR_STEP_WOULD_FAIL",
    message: expect.stringContaining("the table is written in file format 2.1"),
  });
  // Where the format is unknown, the engine has the last word.
  const unknown: Target = { ...target, formatOf: () => undefined };
  const ended = up({ ...options, target: unknown, migrations: sourceOf([first, second]) });
  await expect(ended).rejects.toMatchObject({ code: "ERR_STEP_FAILED" });
  await target.close();
});

test("vectors are not counted, because an index on too few of them is deferred", async () => {
  expect(await asked([createIndex("t", "v", ivfFlat({ numPartitions: 2 }))])).toEqual([]);
});

test("a migration that may have begun, or that is rolled back, does not begin with such a call", async () => {
  const target = memoryTarget({ name: "memory", model: "embedded", tables: memoryTables() });
  const given = { target, ledger: "_migrations", lease: { duration: 600_000, patience: 0 } };
  const first = aMigration(1, [createTable("t", columns)]);
  await up({ ...given, migrations: sourceOf([first]) });
  const second = aMigration(2, [setNullable("t", "a", false)]);
  const [planned] = (await plan({ ...given, migrations: sourceOf([first, second]) })).migrations;
  const shows = (changed: Partial<PlannedMigration>) => showsItself([{ ...planned!, ...changed }], target.capabilities);
  expect(shows({})).toBe(true);
  const midway = { step: "", commit: 0, indexes: {}, metadata: {} };
  for (const changed of [{ inDoubt: true }, { done: 1 }, { midway }, { direction: "down" as const }])
    expect(shows(changed)).toBe(false);
});

test("plan states what older clients can't do with an index, of those that can read the table", async () => {
  const risksIn = async (newTables: { readonly dataStorageVersion?: "2.1" }, index: IndexType) => {
    const folder = temporaryFolder();
    const target = await open({ kind: "lance", uri: folder, newTables }, { name: "local", folder });
    const options = { folder, ledger: "_migrations", lease: { duration: 600_000, patience: 0 }, target };
    const path = index.kind === "ivfRq" ? "v" : "s";
    const steps = [createTable("t", { s: utf8(), v: vector(8) }), createIndex("t", path, index)];
    const planned = await plan({ ...options, migrations: sourceOf([aMigration(1, steps)]) });
    await target.close();
    return planned.migrations[0]!.actions[1]!.risks.filter(({ kind }) => kind === "readers").map(({ text }) => text);
  };
  const old = { dataStorageVersion: "2.1" } as const;
  expect(await risksIn(old, fts())).toEqual([expect.stringContaining("Python before 0.30 ignore it")]);
  expect(await risksIn(old, fm())).toEqual([expect.stringContaining("`optimize` fail")]);
  expect(await risksIn({}, fts())).toEqual([]);
  expect(await risksIn({}, ivfRq())).toEqual([expect.stringContaining("Python up to 0.33")]);
});
