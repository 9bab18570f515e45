import { expect, test } from "vitest";
import { systemClock } from "../../../../src/time/clock.ts";
import type { Lease } from "../../../../src/ledger/lease/lease.ts";
import { proofOf } from "../../../../src/plan/compile/undescribed.ts";
import type { PlannedAction } from "../../../../src/plan/make-plan.ts";
import { executeUndescribed } from "../../../../src/run/execute/execute-undescribed.ts";
import { executeDescribed } from "../../../../src/run/execute/execute-described.ts";
import type { ActionContext, ActionResult } from "../../../../src/run/execute/send-action.ts";
import type { Action } from "../../../../src/actions/model/action.ts";
import { tablesAfter } from "../../../../src/actions/apply-action.ts";
import { btree } from "../../../../src/schema/declare/index-builders.ts";
import type { Database } from "../../../../src/schema/table.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";
import type { Model } from "../../../simulate/target/carry.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";
import type { TableSnapshot, Target, CallOutcome } from "../../../../src/targets/contract/target.ts";
import { heldLease } from "../../../support/ledger.ts";

const rename: Action = { kind: "alterColumns", table: "t", alterations: [{ path: "a", rename: "b" }] };

function plannedOf(action: Action, before: Database): PlannedAction {
  return {
    place: { file: "0001_t.ts", step: 1, kind: "renameColumn" },
    action,
    text: "",
    risks: [],
    commits: [],
    before,
    after: tablesAfter(before, action),
    recordFirst: false,
    proof: proofOf(action),
  };
}

/** Carries out the rename under a lease of which the holder is sure at these askings. */
async function acting(model: Model, sure: readonly boolean[], meanwhile?: Action) {
  const tables = memoryTables();
  const memory = memoryTarget({ name: "memory", model, tables });
  tables.create("t", [{ name: "a", type: { kind: "int32" }, nullable: true }]);
  const before = new Map([["t", tables.get("t")!]]);
  if (meanwhile !== undefined) tables.carryOut(meanwhile);
  const told: string[] = [];
  let asked = 0;
  const lease: Lease = {
    ...heldLease,
    check: async () => void told.push("check"),
    isSure() {
      const isSure = sure[asked++] ?? true;
      told.push(isSure ? "sure" : "not sure");
      return isSure;
    },
  };
  const target: typeof memory = {
    ...memory,
    async execute(action, seen) {
      told.push("call");
      return await memory.execute(action, seen);
    },
  };
  const planned = plannedOf(rename, before);
  const place = { version: 1, name: "t", action: 1, total: 1 };
  const carryOut = model === "service" ? executeUndescribed : executeDescribed;
  const ending: ActionResult = await carryOut(planned, false, {
    target,
    lease,
    clock: systemClock,
    emit: () => {},
    place,
    pending: [],
  });
  return { ending, told };
}

test.each(["embedded", "namespace", "service"] as const)(
  "a holder that is not sure of its lease after it was checked sends nothing and checks again (%s)",
  async (model) => {
    const { ending, told } = await acting(model, [false]);
    expect(ending).not.toHaveProperty("error");
    expect(told.slice(0, 5)).toEqual(["check", "not sure", "check", "sure", "call"]);
    // A service that does not describe its tables is asked for the new name.
    expect(told.filter((what) => what === "call")).toHaveLength(model === "service" ? 2 : 1);
  },
);

test.each(["embedded", "namespace"] as const)(
  "a table that others have changed since it was planned is left as it is (%s)",
  async (model) => {
    const theirs: Action = { kind: "alterColumns", table: "t", alterations: [{ path: "a", type: { kind: "int64" } }] };
    const { ending, told } = await acting(model, [], theirs);
    expect(ending).toMatchObject({ error: { code: "ERR_TABLE_CHANGED" }, inDoubt: false });
    expect(told).not.toContain("call");
  },
);

/** On a table with an index, where the target may be another than the one in memory. */
async function actOn(action: Action, inDoubt: boolean, other: Partial<Target>, meanwhile?: Action) {
  const tables = memoryTables();
  const target = { ...memoryTarget({ name: "memory", model: "embedded", tables }), ...other };
  tables.create("t", [{ name: "a", type: { kind: "int32" }, nullable: true }]);
  tables.carryOut({ kind: "createIndex", table: "t", name: "own", index: { path: "a", ...btree() } });
  const before = new Map([["t", tables.get("t")!]]);
  if (meanwhile !== undefined) tables.carryOut(meanwhile);
  const planned = plannedOf(action, before);
  const place = { version: 1, name: "t", action: 1, total: 1 };
  return await executeDescribed(planned, inDoubt, {
    target,
    lease: heldLease,
    clock: systemClock,
    emit: () => {},
    place,
    pending: [],
  });
}

test.each([true, false])(
  "the target is asked to look for rows that may have been reinserted already, and only then (in doubt: %s)",
  async (inDoubt) => {
    const putBack: Action = { kind: "putBackRows", table: "t", version: 1, after: 2, columns: { a: "a" } };
    const sent: Action[] = [];
    const execute = async (action: Action) => {
      sent.push(action);
      return {};
    };
    await actOn(putBack, inDoubt, { execute });
    expect(sent).toEqual([inDoubt ? { ...putBack, mayBeDone: true } : putBack]);
  },
);

test("a table whose index others have dropped since it was planned is not dropped", async () => {
  const ending = await actOn(
    { kind: "dropTable", table: "t" },
    false,
    {},
    { kind: "dropIndex", table: "t", name: "own" },
  );
  expect(ending).toMatchObject({ error: { code: "ERR_TABLE_CHANGED" }, inDoubt: false });
});

test("a call that made no version is counted as none", async () => {
  const idle: Action = { kind: "setMetadata", table: "t", updates: [{ path: "a", metadata: {} }] };
  expect(await actOn(idle, false, { execute: async (_, seen) => ({ version: seen!.version }) })).toMatchObject({
    commits: 0,
  });
  expect(await actOn(idle, false, {})).toMatchObject({ commits: 1 });
});

/** An action on an embedded table, whose call takes effect as `execute` says. */
async function actWith(
  action: Action,
  tables: ReturnType<typeof memoryTables>,
  execute: (memory: Target) => Target["execute"],
  { bound, kind = "refused" }: { readonly bound?: ActionContext["bound"]; readonly kind?: CallOutcome["kind"] } = {},
): Promise<ActionResult> {
  const memory = memoryTarget({ name: "memory", model: "embedded", tables });
  const before = new Map([["t", tables.get("t")!]]);
  const planned = plannedOf(action, before);
  return await executeDescribed(planned, false, {
    target: { ...memory, execute: execute(memory), verdict: () => ({ kind }) },
    lease: heldLease,
    clock: systemClock,
    emit: () => {},
    place: { version: 1, name: "t", action: 1, total: 1 },
    pending: [],
    bound,
  });
}

function oneTable(now?: () => number) {
  const tables = memoryTables(now && { now });
  tables.create("t", [{ name: "a", type: { kind: "int32" }, nullable: true }]);
  return tables;
}

test("a version that was restored although the call failed is found by what the table looks like", async () => {
  const tables = oneTable();
  tables.carryOut({ kind: "createIndex", table: "t", name: "i", index: { path: "a", ...btree() } });
  const as = { columns: tables.get("t")!.columns, indexes: { i: null } };
  const restore: Action = { kind: "restoreTable", table: "t", version: 1, after: 1, as, isSilent: true };
  const ending = await actWith(restore, tables, (memory) => async (action, seen) => {
    await memory.execute(action, seen);
    throw new Error("panicked after it acted");
  });
  expect(ending).not.toHaveProperty("error");
});

test("a call without an answer on a table that was recreated meanwhile is not taken for done", async () => {
  let now = 0;
  const tables = oneTable(() => ++now);
  const execute = (memory: Target) => async (action: Action, seen?: TableSnapshot) => {
    tables.recreate("t", []);
    await memory.execute(action, seen);
    throw new Error("input/output error");
  };
  const ending = actWith(rename, tables, execute, { kind: "unanswered" });
  await expect(ending).rejects.toMatchObject({ code: "ERR_TABLE_RECREATED" });
});

test("a saved plan is carried out on the table that it was made for", async () => {
  let now = 0;
  const tables = oneTable(() => ++now);
  const memory = memoryTarget({ name: "memory", model: "embedded", tables });
  const { version, at } = (await memory.describeTable("t"))!;
  const bound = { version, at: at ?? (await memory.versions!.time("t", version!)) };
  expect(await actWith(rename, tables, ({ execute }) => execute, { bound })).not.toHaveProperty("error");
  const others = oneTable(() => ++now);
  expect(await actWith(rename, others, ({ execute }) => execute, { bound })).toMatchObject({
    error: { code: "ERR_TABLE_CHANGED", message: expect.stringContaining("it was dropped and recreated") },
  });
});
