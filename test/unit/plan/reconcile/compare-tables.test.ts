import { expect, test } from "vitest";
import { tablesToCompare } from "../../../../src/plan/reconcile/compare-tables.ts";
import type { Plan } from "../../../../src/plan/make-plan.ts";
import { addColumn, createTable, renameTable } from "../../../../src/steps/index.ts";
import { int32 } from "../../../../src/schema/declare/type-builders.ts";

test("the tables to look at are those that the ledger knows, and those that migrations are going to make", () => {
  const plan = { now: new Map([["known", { columns: [] }]]), migrations: [] } as unknown as Plan;
  const migration = {
    file: "0002_later.ts",
    steps: [
      createTable("made", { id: int32() }),
      addColumn("elsewhere", "a", int32()),
      renameTable("known", "renamed"),
    ],
  } as never;
  expect(tablesToCompare(plan, [migration], { describes: true })).toEqual(["known", "made"]);
});
