import { expect, test } from "vitest";
import type { Action } from "../../../../src/actions/model/action.ts";
import { putBackKey } from "../../../../src/plan/assess/blocking-rows.ts";
import type { Plan, PlannedAction } from "../../../../src/plan/make-plan.ts";
import { costs } from "../../../../src/run/prepare/estimate.ts";
import { columnsOf, int32 } from "../../../../src/schema/declare/type-builders.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";

test("rows that a rollback puts back are added, as many as others have written", async () => {
  const tables = memoryTables();
  const target = memoryTarget({ name: "memory", model: "embedded", tables });
  tables.create("t", columnsOf({ a: int32() }));
  const now = new Map([["t", tables.get("t")!]]);
  const action: Action = {
    kind: "putBackRows",
    table: "t",
    version: 1,
    after: 2,
    since: 2,
    writes: false,
    columns: {},
  };
  const planned = { action, before: now, after: now, commits: [{ action, before: now }] } as unknown as PlannedAction;
  const plan = { now, migrations: [{ actions: [planned] }], putBack: new Map([[putBackKey("t", 1), 3]]) };
  expect((await costs(plan as unknown as Plan, target)).get(planned)).toMatchObject({ cost: { added: 3 } });
});
