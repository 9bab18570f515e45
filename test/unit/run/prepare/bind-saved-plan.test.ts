import { createTable, int32 } from "lance-migrate";
import { expect, test } from "vitest";
import { plan } from "../../../../src/commands/plan.ts";
import { boundTables } from "../../../../src/run/prepare/bind-saved-plan.ts";
import { aMigration } from "../../../simulate/history.ts";
import { sourceOf } from "../../../simulate/start-run.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";

test("a saved plan records which of its tables do not exist yet", async () => {
  const target = memoryTarget({ name: "memory", model: "embedded", tables: memoryTables() });
  const migrations = sourceOf([aMigration(1, [createTable("t", { id: int32() })])]);
  const planned = await plan({ target, ledger: "_migrations", migrations, lease: { duration: 1_000, patience: 0 } });
  expect(await boundTables(planned, target)).toStrictEqual({ tables: { t: null }, times: { t: null } });
});
