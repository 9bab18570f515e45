import { backfillColumn, createTable, int64, utf8 } from "lance-migrate";
import { expect, test } from "vitest";
import { embed } from "../../../../src/features/embed/feature.ts";
import type { Action } from "../../../../src/actions/model/action.ts";
import { planDocument } from "../../../../src/plan/document/plan-document.ts";
import { reinsertKey } from "../../../../src/plan/assess/blocking-rows.ts";
import type { Plan, PlannedAction } from "../../../../src/plan/make-plan.ts";
import { plan } from "../../../../src/commands/plan.ts";
import { up } from "../../../../src/commands/up.ts";
import { costs, survey } from "../../../../src/run/prepare/estimate.ts";
import { columnsOf, int32 } from "../../../../src/schema/declare/type-builders.ts";
import { open } from "../../../../src/targets/lance/lance.ts";
import type { Target } from "../../../../src/targets/contract/target.ts";
import { aMigration } from "../../../simulate/history.ts";
import { sourceOf } from "../../../simulate/start-run.ts";
import { temporaryFolder } from "../../../support/project.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";

test("rows that a rollback reinserts are added, as many as others have written", async () => {
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
  const plan = { now, migrations: [{ actions: [planned] }], reinserted: new Map([[reinsertKey("t", 1), 3]]) };
  expect((await costs(plan as unknown as Plan, { target })).get(planned)).toMatchObject({ cost: { added: 3 } });
});

test("that keys may be the same in several rows is a risk unless all of the rows were looked at", async () => {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "local", folder });
  const options = {
    folder,
    runsCode: false,
    ledger: "_migrations",
    lease: { duration: 600_000, patience: 0 },
    computing: embed.computing,
  };
  const first = aMigration(1, [
    createTable("t", { id: int64(), title: utf8(), n: int64() }, { rows: [{ id: 1, title: "a" }] }),
  ]);
  await up({ ...options, target, migrations: sourceOf([first]) });
  const computation = { from: ["title"], key: "id", with: "./code.ts", version: "1" };
  const second = aMigration(2, [backfillColumn("t", "n", computation)]);
  const risksIn = async (target: Target) => {
    const planned = await plan({ ...options, target, migrations: sourceOf([first, second]) });
    const { pending } = planDocument(planned, "local", "up", await survey(planned, { ...options, target }));
    return pending![0]!.actions[0]!.risks.map(({ text }) => text);
  };
  expect(await risksIn(target)).toEqual([]);
  expect(await risksIn({ ...target, countRows: undefined })).toEqual([
    "several rows with the same t.id would stop this; not all rows of t can be checked in advance",
  ]);
  await target.close();
});
