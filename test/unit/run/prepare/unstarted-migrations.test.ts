import { expect, test } from "vitest";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import { journalOf } from "../../../../src/ledger/journal/open-journal.ts";
import { takeLease } from "../../../../src/ledger/lease/lease.ts";
import { recordFacts } from "../../../../src/plan/history/record-facts.ts";
import { down } from "../../../../src/commands/down.ts";
import { up } from "../../../../src/commands/up.ts";
import type { MigratorOptions } from "../../../../src/run/run-context.ts";
import { columnsOf, int32 } from "../../../../src/schema/declare/type-builders.ts";
import type { Step } from "../../../../src/steps/registry.ts";
import { sleepingClock } from "../../../support/clocks.ts";
import { sourceOf } from "../../../simulate/start-run.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";
import { aMigration } from "../../../simulate/history.ts";

const createTable = (table: string) => ({
  kind: "createTable" as const,
  table,
  columns: [...columnsOf({ a: int32() })],
});

/** The first migration has run, and a run that turned to the second was never heard of again. */
async function aWorld(second: readonly Step[] = [createTable("two"), createTable("three")]) {
  const tables = memoryTables();
  const target = memoryTarget({ name: "memory", model: "embedded", tables });
  const migrations = [[createTable("one")], second].map((steps, index) => aMigration(index + 1, [...steps]));
  const clock = sleepingClock();
  const options: MigratorOptions = {
    target,
    ledger: "_migrations",
    migrations: sourceOf(migrations),
    lease: { duration: 30_000, patience: 5_000 },
    clock,
  };
  await up({ ...options, migrations: sourceOf(migrations.slice(0, 1)) });
  const journal = journalOf(target, options.ledger);
  const dead = { by: "dead", run: "dead", tool: "test" };
  const terms = { duration: 30_000, clock };
  (await takeLease(journal, foldLedger(await journal.read()), dead, 2, terms))!.abandon();
  return { tables, options, migrations };
}

test("a migration of which nothing had run when earlier ones were rolled back does not count as run", async () => {
  const { tables, options } = await aWorld();
  expect(await down(options, { to: 0, accept: ["lossy"] })).toEqual({ reverted: 1, total: 0 });
  expect(await up(options)).toEqual({ applied: 2, total: 2 });
  expect(tables.get("three")).toBeDefined();
});

test("nothing is rolled back below a migration that has begun, until up has ended that", async () => {
  const { tables, options } = await aWorld();
  tables.create("two", columnsOf({ a: int32() }));
  await expect(down(options, { to: 0, accept: ["lossy"] })).rejects.toMatchObject({ code: "ERR_UNSETTLED" });
  expect(tables.get("one")).toBeDefined();
  expect(await up(options)).toEqual({ applied: 1, total: 2 });
  expect(await down(options, { to: 0, accept: ["lossy"] })).toEqual({ reverted: 2, total: 0 });
  expect(tables.names()).toEqual(["_migrations"]);
});

test("nothing is rolled back below a migration that may have begun and whose file is not here", async () => {
  const { tables, options } = await aWorld();
  tables.create("two", columnsOf({ a: int32() }));
  const older = { ...options, migrations: sourceOf([aMigration(1, [createTable("one")])]) };
  await expect(down(older, { to: 0, accept: ["lossy"] })).rejects.toMatchObject({ code: "ERR_BEGUN" });
  expect(tables.get("one")).toBeDefined();
  await expect(up(older)).rejects.toMatchObject({ code: "ERR_BEGUN" });
});

test("down does not succeed where what it would roll back may have begun", async () => {
  const { tables, options } = await aWorld();
  tables.create("two", columnsOf({ a: int32() }));
  await expect(down(options, { to: 1 })).rejects.toMatchObject({ code: "ERR_UNSETTLED" });
  expect(await up(options)).toEqual({ applied: 1, total: 2 });
  expect(await down(options, { to: 1, accept: ["lossy"] })).toEqual({ reverted: 1, total: 1 });
  expect(tables.names()).toEqual(["_migrations", "one"]);
});

test("down has nothing to do where nothing has begun, and finds nothing in doubt the next time", async () => {
  const { tables, options } = await aWorld();
  expect(await down(options, { to: 1 })).toEqual({ reverted: 0, total: 1 });
  const { rows } = tables.get("_migrations")!;
  expect(await down(options, { to: 1 })).toEqual({ reverted: 0, total: 1 });
  expect(tables.get("_migrations")!.rows).toEqual(rows);
  expect(await up(options)).toEqual({ applied: 1, total: 2 });
});

test("nothing is rolled back where the tables do not tell whether a migration has begun", async () => {
  const { tables, options } = await aWorld();
  tables.create("two", columnsOf({ other: int32() }));
  await expect(down(options, { to: 0, accept: ["lossy"] })).rejects.toMatchObject({ code: "ERR_UNSETTLED" });
  expect(tables.get("one")).toBeDefined();
});

test("nothing is rolled back where a table looked before a migration as it does after it", async () => {
  const { tables, options } = await aWorld([{ kind: "setMetadata", table: "one", path: "a", metadata: { k: "1" } }]);
  const [a] = tables.get("one")!.columns;
  tables.write("one", "metadata", { columns: [{ ...a!, metadata: { k: "1" } }] });
  await expect(down(options, { to: 1 })).rejects.toMatchObject({ code: "ERR_UNSETTLED" });
  expect(await up(options)).toEqual({ applied: 1, total: 2 });
  expect(await down(options, { to: 1 })).toEqual({ reverted: 1, total: 1 });
});

test.each([
  ["up", (options: MigratorOptions) => up(options, { to: 1 })],
  ["down", (options: MigratorOptions) => down(options, { to: 2 })],
] as const)("%s with nothing to do checks a late call, and leaves a migration half-done", async (_, run) => {
  const { tables, options, migrations } = await aWorld();
  tables.create("two", columnsOf({ a: int32() }));
  const journal = journalOf(options.target, options.ledger);
  const dead = { by: "dead", run: "dead too", tool: "test" };
  const state = foldLedger(await journal.read());
  const lease = await takeLease(journal, state, dead, 2, { duration: 30_000, clock: sleepingClock() });
  await lease!.recordLate({ event: "late", version: 1, name: migrations[0]!.name, step: 1, total: 1 });
  const progress = { step: 1, total: 2, attempt: 1, duration: 0, tables: {} };
  const facts = recordFacts(migrations[1]!, migrations[1]!.steps.slice(0, 1), progress);
  await lease!.release([{ event: "failed", ...facts, detail: "no" }]);
  const left = async () => {
    const { head, late } = foldLedger(await journal.read());
    return { event: head!.event, step: head!.step, total: head!.total, late: late.length };
  };
  expect(await left()).toEqual({ event: "released", step: 1, total: 2, late: 1 });
  await run(options);
  expect(await left()).toEqual({ event: "released", step: 1, total: 2, late: 0 });
});
