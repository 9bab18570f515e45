import { expect, test } from "vitest";
import { systemClock } from "../../../../src/time/clock.ts";
import { MigrateError } from "../../../../src/errors/migrate-error.ts";
import type { Lease } from "../../../../src/ledger/lease/lease.ts";
import type { LateCall, LedgerState } from "../../../../src/ledger/state/ledger-state.ts";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import type { Migration } from "../../../../src/migrations/load.ts";
import type { Plan } from "../../../../src/plan/make-plan.ts";
import { checkLateCalls } from "../../../../src/run/execute/late-calls.ts";
import { guardColumn } from "../../../../src/actions/rewrite/append-guard.ts";
import type { RunEvent } from "../../../../src/run/events.ts";
import { columnsOf, int32, int64 } from "../../../../src/schema/declare/type-builders.ts";
import type { Column } from "../../../../src/schema/data-type.ts";
import type { Model } from "../../../simulate/target/carry.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";
import { aMigration } from "../../../simulate/history.ts";
import { heldLease } from "../../../support/ledger.ts";

const columns = [...columnsOf({ a: int32(), b: int32() })];
const creating = aMigration(1, [{ kind: "createTable", table: "t", columns }]);
const retyping = aMigration(2, [{ kind: "retypeColumn", table: "t", path: "a", type: { kind: "int64" } }]);

/** A late call of an action of a migration; `back`: of its rollback. */
const call = (epoch: number, version: number, action = 1): LateCall => ({
  epoch,
  version,
  action,
  isBack: false,
  midway: undefined,
});
const back: LateCall = { ...call(1, 2), isBack: true };

interface Scene {
  /** The columns of the table as migrations know it; null if it does not exist. */
  readonly now?: readonly Column[] | null;
  readonly found?: readonly Column[];
  readonly late?: readonly LateCall[];
  /** The numbers of the migrations that are applied. */
  readonly applied?: readonly number[];
  /** The numbers of those whose rollback has begun. */
  readonly reversals?: readonly number[];
  readonly model?: Model;
  readonly planned?: Partial<Plan>["migrations"];
  readonly migrations?: readonly Migration[];
  readonly check?: Lease["check"];
}

/** Late calls that are looked at, where nothing can be described unless the model is another one; by default one of a rollback of `retyping`. */
async function lookedAt({ found = columns, late = [back], applied = [], check = async () => {}, ...given }: Scene) {
  const { planned = [], migrations = [creating, retyping], reversals = [], model = "service", now = columns } = given;
  const tables = memoryTables();
  tables.create("t", found);
  const target = memoryTarget({ name: "memory", model, tables });
  const lease = { ...heldLease, check };
  const known = applied.map((version, order) => {
    const reversal = reversals.includes(version) ? { step: 0 } : undefined;
    return [version, { status: "applied", step: 1, order, version, reversal }] as const;
  });
  const events: RunEvent[] = [];
  const tidied: string[] = [];
  const entries = await checkLateCalls(late, {
    emit: (event) => void events.push(event),
    target,
    clock: systemClock,
    lease,
    plan: { now: new Map(now === null ? [] : [["t", { columns: now }]]), migrations: planned } as unknown as Plan,
    state: { ...foldLedger([]), migrations: new Map(known) } as unknown as LedgerState,
    migrations,
    tidy: async ({ kind }) => void tidied.push(kind),
  });
  return { entries, events, tidied, columns: tables.get("t")!.columns };
}

test("what a late call of a rollback altered is stated once more", async () => {
  const found = await lookedAt({ found: [...columnsOf({ a: int64().notNull(), b: int32() })] });
  expect(found.entries).toEqual([{ event: "looked", next: undefined, late: 1 }]);
  expect(found.columns).toMatchObject([
    { name: "a", type: { kind: "int32" }, nullable: true },
    { name: "b", type: { kind: "int32" } },
  ]);
});

const typesOf = (found: readonly Column[]) => found.map(({ name, type }) => `${name} ${type.kind}`);

test("a column that a rollback renames is stated once more under the name that it has", async () => {
  const migrations = [creating, aMigration(2, [{ kind: "renameColumn", table: "t", path: "a", name: "c" }])];
  const before = await lookedAt({ migrations, found: [...columnsOf({ a: int64(), b: int32() })] });
  expect(typesOf(before.columns)).toEqual(["a int32", "b int32"]);
  const now = [...columnsOf({ c: int32(), b: int32() })];
  const after = await lookedAt({ migrations, now, found: [...columnsOf({ c: int64(), b: int32() })] });
  expect(typesOf(after.columns)).toEqual(["c int32", "b int32"]);
  // The action that is in doubt has renamed it.
  const planned = [plannedAs(3, true, now)];
  const inDoubt = await lookedAt({ migrations, planned, found: [...columnsOf({ c: int64(), b: int32() })] });
  expect(typesOf(inDoubt.columns)).toEqual(["c int32", "b int32"]);
});

test("what a late call of a rollback altered is drift where tables can be described", async () => {
  const found = [...columnsOf({ a: int64(), b: int32() })];
  await expect(lookedAt({ found, model: "embedded" })).rejects.toMatchObject({ code: "ERR_DRIFT" });
});

test("a table that migrations have dropped since is not looked for", async () => {
  expect((await lookedAt({ now: null })).entries).toHaveLength(1);
});

test("a table that does not have the columns that it should have is drift", async () => {
  await expect(lookedAt({ found: [...columnsOf({ a: int64() })] })).rejects.toMatchObject({ code: "ERR_DRIFT" });
});

/** A migration that is planned. */
const plannedAs = (version: number, inDoubt: boolean, after = columns) => {
  const actions = [
    { action: { kind: "dropTable", table: "z" }, after: new Map([["t", { columns: after }]]), commits: [] },
  ];
  return { migration: { version }, inDoubt, actions } as unknown as Plan["migrations"][number];
};

test("a table that can't be described is drift if its columns are others, or if it should not exist", async () => {
  const wrongIn = async (scene: Scene) =>
    await lookedAt({ late: [call(1, 1)], applied: [1], found: [...columnsOf({ z: int32() })], ...scene });
  await expect(wrongIn({})).rejects.toThrow("its columns are not those that it should have");
  await expect(wrongIn({ now: null })).rejects.toThrow("it exists, but should not");
});

test("an epoch counts as looked at once all of its late calls were", async () => {
  const lookedAtIn = async (scene: Scene) => (await lookedAt({ applied: [1], ...scene })).entries;
  const looked = (late: number, next?: number) => ({ event: "looked", next, late });
  expect(await lookedAtIn({ late: [call(1, 1), call(1, 2)] })).toEqual([]);
  expect(await lookedAtIn({ late: [call(1, 1), call(2, 2)] })).toEqual([looked(1)]);
  expect(await lookedAtIn({ late: [call(1, 1), call(1, 1)] })).toEqual([looked(1)]);
  // The migration that is in doubt is checked when it is executed.
  const both = [call(1, 1), call(1, 2)];
  expect(await lookedAtIn({ late: both, planned: [plannedAs(2, true)] })).toEqual([looked(1, 2)]);
  expect(await lookedAtIn({ late: both, planned: [plannedAs(2, false)] })).toEqual([]);
  expect(await lookedAtIn({ late: both, planned: [plannedAs(3, true)] })).toEqual([]);
  // Done by a migration whose file is lost.
  expect(await lookedAtIn({ late: both, applied: [1, 2], migrations: [creating] })).toEqual([looked(1)]);
});

test("a rollback that is in doubt is checked when it resumes, not before", async () => {
  const found = [...columnsOf({ z: int32() })];
  const scene = { late: [back], applied: [1, 2], reversals: [2], found };
  expect((await lookedAt({ ...scene, planned: [plannedAs(2, true)] })).entries).toHaveLength(1);
  expect((await lookedAt({ ...scene, planned: [] })).entries).toEqual([]);
});

test("of a migration the action is looked at that was called late", async () => {
  const step = { kind: "insertRows", table: "t", rows: [{ a: 1 }], key: "a" } as const;
  const twice = aMigration(2, [step, { kind: "execute", table: "t", change: { delete: "a = 1" } }]);
  const { events } = await lookedAt({ late: [call(1, 2, 2)], applied: [1, 2], migrations: [creating, twice] });
  expect(events).toMatchObject([{ action: 2, total: 2, check: expect.stringContaining("deleted") }]);
});

test("a column that guards appends and came late is named in the hint", async () => {
  const found = [...columns, { ...guardColumn, nullable: true }];
  await expect(lookedAt({ late: [call(1, 1)], applied: [1], found, model: "embedded" })).rejects.toMatchObject({
    code: "ERR_DRIFT",
    details: { hint: expect.stringContaining(`has added ${guardColumn.name} late`) },
  });
});

test("who lost the lease while it looked does not report the work of its successor as drift", async () => {
  let checks = 0;
  const check = async () => {
    if (++checks === 2) throw new MigrateError("ERR_LEASE_LOST", { by: "another" });
  };
  const wrong = [...columnsOf({ z: int32() })];
  await expect(lookedAt({ late: [call(1, 1)], applied: [1], found: wrong, check })).rejects.toMatchObject({
    code: "ERR_LEASE_LOST",
  });
});

test.each([
  [
    { kind: "insertRows", rows: [{ a: 1 }], key: "a" },
    "check whether rows of t have the same a, and delete one of each",
  ],
  [
    { kind: "execute", change: { delete: "a = 1" } },
    "check whether rows with a = 1 that applications wrote before that run ended were deleted again",
  ],
  [
    { kind: "execute", change: { update: { a: "2" } } },
    "check whether rows that applications wrote before that run ended were updated again",
  ],
] as const)("rows that a late call may have written are left to the user: %j", async (step, check) => {
  const writing = aMigration(2, [{ ...step, table: "t" } as never]);
  // The table is not compared: others may have changed it.
  const found = await lookedAt({
    late: [call(1, 2)],
    applied: [1, 2],
    migrations: [creating, writing],
    found: [...columnsOf({ z: int32() })],
  });
  expect(found.events).toMatchObject([{ event: "unseen", version: 2, action: 1, table: "t", check }]);
  expect(found.tidied).toHaveLength(1);
  expect(found.entries).toHaveLength(1);
});
