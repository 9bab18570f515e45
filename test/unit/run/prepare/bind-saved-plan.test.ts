import { addColumn, createTable, int32 } from "lance-migrate";
import { expect, test } from "vitest";
import { up } from "../../../../src/commands/up.ts";
import { planNow, planPending } from "../../../../src/run/prepare/plan-run.ts";
import { runContext } from "../../../../src/run/run-context.ts";
import { bind, savedPlanCheck, boundTables } from "../../../../src/run/prepare/bind-saved-plan.ts";
import { columnsOf } from "../../../../src/schema/declare/type-builders.ts";
import { aMigration } from "../../../simulate/history.ts";
import { sourceOf } from "../../../simulate/start-run.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";

const runner = { by: "ann", run: "run", tool: "test" };

/** The plan of the last of these migrations, after the others have run; by default of one that creates a table. */
async function aPlan(all = [aMigration(1, [createTable("t", { id: int32() })])]) {
  const target = memoryTarget({ name: "memory", model: "embedded", tables: memoryTables() });
  const lease = { duration: 30_000, patience: 0 };
  const options = { target, ledger: "_migrations", lease, runner };
  if (all.length > 1) await up({ ...options, migrations: sourceOf(all.slice(0, -1)) });
  const migrations = sourceOf(all);
  const context = runContext({ ...options, migrations });
  const files = migrations.list();
  const planned = await planNow(context, files, ({ records, state }, besideAnother) =>
    planPending({ context, files, records, state, besideAnother }, {}),
  );
  return { target, context, planned };
}

test("a saved plan records which of its tables do not exist yet", async () => {
  const { target, planned } = await aPlan();
  expect(await boundTables(planned.plan, target)).toStrictEqual({ tables: { t: null }, times: { t: null } });
});

test("a saved plan records at which versions its tables are, and when these were made", async () => {
  const all = [aMigration(1, [createTable("t", { id: int32() })]), aMigration(2, [addColumn("t", "n", int32())])];
  const { target, planned } = await aPlan(all);
  const { version, at } = (await target.describeTable("t"))!;
  expect(await boundTables(planned.plan, target)).toEqual({ tables: { t: version }, times: { t: at } });
  expect(version).toBe(1);
});

test("a saved plan that creates a table is not for one that came meanwhile", async () => {
  const { target, planned } = await aPlan();
  await target.execute({ kind: "createTable", table: "t", columns: columnsOf({ id: int32() }) }, undefined);
  expect(await boundTables(planned.plan, target)).toStrictEqual({ tables: { t: null }, times: { t: null } });
});

test("a plan is bound to the tables that were described for it, also if they have changed since", async () => {
  const { context, planned } = await aPlan();
  const described = { tables: { t: 7 }, times: { t: 70 } };
  expect(await bind(planned, "up", {}, context, described)).toMatchObject(described);
});

test("a run with a saved plan plans again where its plan is void", async () => {
  const { context, planned } = await aPlan();
  const saved = await bind(planned, "up", {}, context);
  expect(
    await savedPlanCheck(saved, "up", context).planUnchanged(planned.state, async () => undefined),
  ).toBeUndefined();
});

test("a run with a saved plan knows its tables by their instance too, in case their versions are cleaned up", async () => {
  const all = [aMigration(1, [createTable("t", { id: int32() })]), aMigration(2, [addColumn("t", "n", int32())])];
  const { target, context, planned } = await aPlan(all);
  const binding = savedPlanCheck(await bind(planned, "up", {}, context), "up", context);
  await binding.planUnchanged(planned.state, async () => planned);
  const { version, at, instance } = (await target.describeTable("t"))!;
  expect(instance).toBeDefined();
  expect(binding.tables).toEqual(new Map([["t", { version, at, instance }]]));
});
