import { btree, createTable, int32, int64, retypeColumn } from "lance-migrate";
import { expect, test } from "vitest";
import { plan } from "../../../../src/commands/plan.ts";
import { up } from "../../../../src/commands/up.ts";
import { MigrateError } from "../../../../src/errors/migrate-error.ts";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import type { Journal } from "../../../../src/ledger/journal/journal.ts";
import type { LedgerRecord } from "../../../../src/ledger/state/record.ts";
import { aMigration } from "../../../simulate/history.ts";
import { sourceOf } from "../../../simulate/start-run.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";
import type { RunContext } from "../../../../src/run/run-context.ts";
import {
  planNow,
  planIfCurrent,
  planPending,
  type PlannedRun,
  type PlanningInput,
} from "../../../../src/run/prepare/plan-run.ts";

const who = { by: "ann", tool: "t", at: 1, applied: "", previous: "" };
const taken: LedgerRecord = { ...who, run: "ours", epoch: 1, number: 0, event: "taken" };

/** A plan that rows block, during which this record was written. */
function planned(newest: LedgerRecord, run: string, plan: () => Promise<PlannedRun>, records = [taken]) {
  const journal = { read: async () => [taken, newest] } as unknown as Journal;
  const context = { journal, runner: { by: "ann", run, tool: "t" } };
  const input = { context, state: foldLedger(records), records } as unknown as PlanningInput;
  return planIfCurrent(input, plan);
}

const blocked = { plan: { blocked: { problems: [] } } } as unknown as PlannedRun;
const isBlocked = async () => blocked;
const hasDrift = async () => {
  throw new MigrateError("ERR_DRIFT", { table: "t", differences: [], hint: "" });
};

const hasNoEffect = async () => {
  throw new MigrateError("ERR_NO_EFFECT", { problem: "t.c is not null already" });
};

const renewed: LedgerRecord = { ...taken, number: 1, event: "renewed" };

test("a run that renews its own lease while it plans has moved nothing", async () => {
  expect(await planned(renewed, "ours", isBlocked)).toBe(blocked);
  await expect(planned(renewed, "ours", hasDrift)).rejects.toMatchObject({ code: "ERR_DRIFT" });
});

test("what another run writes meanwhile makes the plan void", async () => {
  const other: LedgerRecord = { ...taken, run: "theirs", epoch: 2 };
  expect(await planned(renewed, "another", isBlocked)).toBeUndefined();
  expect(await planned(other, "ours", isBlocked)).toBeUndefined();
  expect(await planned(other, "ours", hasDrift)).toBeUndefined();
});

test("a list of records that missed an older one makes the plan void", async () => {
  const whole = [taken, renewed];
  expect(await planned(renewed, "another", hasNoEffect, [renewed])).toBeUndefined();
  await expect(planned(renewed, "another", hasNoEffect, whole)).rejects.toMatchObject({ code: "ERR_NO_EFFECT" });
});

test("what has nothing to do with the ledger is thrown at once", async () => {
  const isDown = async () => {
    throw new MigrateError("ERR_TARGET_UNREACHABLE", { target: "local", problem: "no answer" });
  };
  await expect(planned(renewed, "another", isDown)).rejects.toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
});

test("what a dead run had begun, and no file here has, is refused under the lease and not beside its holder", async () => {
  const target = memoryTarget({ name: "memory", model: "embedded", tables: memoryTables() });
  const records: readonly LedgerRecord[] = [{ ...taken, next: 9 }];
  const context = { target, runner: { by: "bob", run: "another", tool: "t" } } as unknown as RunContext;
  const planned = (besideAnother: boolean) =>
    planPending({ context, files: [], state: foldLedger(records), records, besideAnother } as PlanningInput, {});
  await expect(planned(false)).rejects.toMatchObject({ code: "ERR_BEGUN" });
  expect(await planned(true)).toMatchObject({ plan: { migrations: [] } });
});

test("an interrupted command does not plan again", async () => {
  const interrupt = new AbortController();
  const journal = { read: async () => [taken] } as unknown as Journal;
  const target = memoryTarget({ name: "memory", model: "embedded", tables: memoryTables() });
  let plans = 0;
  // The first plan was void, because another run wrote meanwhile.
  const plan = async () => {
    interrupt.abort();
    return ++plans === 1 ? undefined : blocked;
  };
  const context = { target, journal, migrations: sourceOf([]), signal: interrupt.signal } as unknown as RunContext;
  await expect(planNow(context, [], plan)).rejects.toMatchObject({ code: "ERR_INTERRUPTED" });
  expect(plans).toBe(1);
});

test("a migration whose rollback has ended is loaded as long as a late call of it was not checked", async () => {
  const target = memoryTarget({ name: "memory", model: "embedded", tables: memoryTables() });
  const [first, second] = [1, 2].map((version) => aMigration(version, [createTable(`t${version}`, { a: int32() })]));
  const migrations = sourceOf([first!, second!]);
  const input = {
    context: { target, migrations, ledger: "_migrations", runner: { by: "ann", run: "ours", tool: "t" } },
    files: migrations.list(),
    state: { ...foldLedger([taken]), late: [{ version: 2, action: 1, isBack: true, epoch: 1, midway: undefined }] },
    besideAnother: false,
  } as unknown as PlanningInput;
  const planned = await planPending(input, { to: 1 });
  expect(planned.plan.migrations.map(({ migration }) => migration.version)).toEqual([1]);
  expect(planned.migrations.map(({ version }) => version)).toEqual([1, 2]);
});

test("a plan has the commits for an index that an application created on a retyped column", async () => {
  const target = memoryTarget({ name: "memory", model: "embedded", tables: memoryTables() });
  const migrations = [[createTable("t", { a: int32() })], [retypeColumn("t", "a", int64())]].map((steps, index) =>
    aMigration(index + 1, steps),
  );
  const options = { target, ledger: "_migrations", lease: { duration: 30_000, patience: 0 } };
  await up({ ...options, migrations: sourceOf(migrations.slice(0, 1)) });
  const index = { path: "a", ...btree() };
  await target.execute({ kind: "createIndex", table: "t", name: "theirs", index }, await target.describeTable("t"));
  const planned = await plan({ ...options, migrations: sourceOf(migrations) });
  const texts = planned.migrations[0]!.actions[0]!.commits!.map(({ text }) => text);
  expect(texts[0]).toBe("drop index theirs of t");
  expect(texts.at(-1)).toBe("create index theirs on t.a: btree");
});
