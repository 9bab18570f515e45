import { expect, test } from "vitest";
import { systemClock } from "../../../../src/time/clock.ts";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import type { Plan } from "../../../../src/plan/make-plan.ts";
import { checkLateCalls } from "../../../../src/run/execute/late-calls.ts";
import { columnsOf, int32, int64 } from "../../../../src/schema/declare/type-builders.ts";
import type { Column } from "../../../../src/schema/data-type.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";
import { aMigration } from "../../../simulate/history.ts";

const columns = [...columnsOf({ a: int32(), b: int32() })];
const retyping = aMigration(2, [{ kind: "retypeColumn", table: "t", path: "a", type: { kind: "int64" } }]);

/** A call of a rollback of `retyping` that may have come late, looked at where nothing can be described. */
async function lookedAt(found: readonly Column[]) {
  const tables = memoryTables();
  tables.create("t", found);
  const target = memoryTarget({ name: "memory", model: "service", tables });
  const late = { epoch: 1, version: 2, action: 1, isBack: true, midway: undefined };
  const plan = { now: new Map([["t", { columns }]]), migrations: [] } as unknown as Plan;
  const lease = {
    ledger: [],
    epoch: () => 1,
    record: async () => {},
    check: async () => {},
    isSure: () => true,
    recordLate: async () => {},
    release: async () => {},
    abandon: () => {},
    defers: () => false,
  };
  const migrations = [aMigration(1, [{ kind: "createTable", table: "t", columns }]), retyping];
  const looking = {
    emit: () => {},
    target,
    clock: systemClock,
    lease,
    plan,
    state: foldLedger([]),
    migrations,
    tidy: async () => {},
  };
  const entries = await checkLateCalls([late], looking);
  return { entries, types: tables.get("t")!.columns.map(({ name, type }) => `${name} ${type.kind}`) };
}

test("what a late call of a rollback altered is stated once more", async () => {
  const { entries, types } = await lookedAt([...columnsOf({ a: int64(), b: int32() })]);
  expect(entries).toEqual([{ event: "looked", next: undefined, late: 1 }]);
  expect(types).toEqual(["a int32", "b int32"]);
});

test("a table that does not have the columns that it should have is drift", async () => {
  await expect(lookedAt([...columnsOf({ a: int64() })])).rejects.toMatchObject({ code: "ERR_DRIFT" });
});
