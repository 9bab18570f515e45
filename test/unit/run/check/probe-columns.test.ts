import { expect, test } from "vitest";
import { MigrateError } from "../../../../src/errors/migrate-error.ts";
import { hasColumns } from "../../../../src/run/check/probe-columns.ts";
import { columnsOf, int32 } from "../../../../src/schema/declare/type-builders.ts";
import type { Target } from "../../../../src/targets/contract/target.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";
import { sleepingClock } from "../../../support/clocks.ts";

const columns = columnsOf({ a: int32() });

/** Asks whether table t, which has the column a, has that of this name. */
async function has(name: string, less: Partial<Target> = {}) {
  const tables = memoryTables();
  tables.create("t", columns);
  const memory = memoryTarget({ name: "memory", model: "service", tables });
  const target = { ...memory, ...less };
  return await hasColumns("t", { columns: columnsOf({ [name]: int32() }) }, [[name]], {
    target,
    clock: sleepingClock(),
  });
}

test("a table has a column that can be renamed to its own name", async () => {
  expect(await has("a")).toBe(true);
  expect(await has("b")).toBe(false);
});

test("a service that can't be reached, or refuses the credentials, says nothing of columns", async () => {
  const failing = (error: MigrateError) => ({ execute: async () => await Promise.reject(error) });
  const refused = new MigrateError("ERR_CREDENTIALS", { target: "t", status: 401, problem: "" } as never);
  await expect(has("a", failing(refused))).rejects.toBe(refused);
  const unreachable = new MigrateError("ERR_TARGET_UNREACHABLE", { target: "t", problem: "no answer" });
  await expect(has("a", failing(unreachable))).rejects.toBe(unreachable);
});
