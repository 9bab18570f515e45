import { expect, test } from "vitest";
import { MigrateError } from "../../../../src/errors/migrate-error.ts";
import { up } from "../../../../src/commands/up.ts";
import type { RunEvent } from "../../../../src/run/events.ts";
import type { MigratorOptions } from "../../../../src/run/run-context.ts";
import { columnsOf, int32 } from "../../../../src/schema/declare/type-builders.ts";
import { btree } from "../../../../src/schema/declare/index-builders.ts";
import { sleepingClock } from "../../../support/clocks.ts";
import { sourceOf } from "../../../simulate/start-run.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";
import type { Target } from "../../../../src/targets/contract/target.ts";
import { aMigration } from "../../../simulate/history.ts";

const creating = aMigration(1, [{ kind: "createTable", table: "t", columns: [...columnsOf({ a: int32() })] }]);

function aDatabase() {
  const tables = memoryTables();
  const memory = memoryTarget({ name: "memory", model: "embedded", tables });
  const clock = sleepingClock();
  const optionsFor = (target: Target, ...migrations: MigrationsOf): MigratorOptions => ({
    target,
    ledger: "_migrations",
    migrations: sourceOf([creating, ...migrations]),
    lease: { duration: 30_000, patience: 0 },
    clock,
  });
  return { tables, memory, optionsFor };
}
type MigrationsOf = readonly ReturnType<typeof aMigration>[];

test("who goes on between two commits of an action still knows what the first run saw of the table", async () => {
  const { tables, memory, optionsFor } = aDatabase();
  const retyping = aMigration(2, [{ kind: "retypeColumn", table: "t", path: "a", type: { kind: "int64" } }]);
  await up(optionsFor(memory));
  const index = { path: "a", ...btree() };
  tables.carryOut({ kind: "createIndex", table: "t", name: "theirs", index });
  const cutOff: Target = {
    ...memory,
    execute: async (action, seen) => {
      if (action.kind === "dropIndex") await memory.execute(action, seen);
      throw new MigrateError("ERR_TARGET_UNREACHABLE", { target: "memory", problem: "killed" });
    },
  };
  await expect(up(optionsFor(cutOff, retyping))).rejects.toThrow("killed");
  expect(tables.get("t")!.indexes).toEqual({});
  expect(await up(optionsFor(memory, retyping))).toMatchObject({ applied: 1 });
  expect(tables.get("t")).toMatchObject({
    columns: [{ name: "a", type: { kind: "int64" } }],
    indexes: { theirs: index },
  });
});

test("after a look that fails the action is in doubt: it may have run", async () => {
  const { memory, optionsFor } = aDatabase();
  const renaming = aMigration(2, [{ kind: "renameColumn", table: "t", path: "a", name: "b" }]);
  let isDone = false;
  const blinded: Target = {
    ...memory,
    execute: async (action, seen) => {
      await memory.execute(action, seen);
      isDone = true;
      throw new Error("no answer");
    },
    describeTable: async (...about) => {
      if (isDone) throw new Error("out of memory");
      return await memory.describeTable(...about);
    },
    verdict: () => ({ kind: "unanswered" }),
  };
  await up(optionsFor(memory));
  await expect(up(optionsFor(blinded, renaming))).rejects.toThrow("out of memory");
  expect(await up(optionsFor(memory, renaming))).toMatchObject({ applied: 1 });
});

test("if a group has lost something of others and a hook fails after it, both are said, and the loss ends the run", async () => {
  const { tables, memory, optionsFor } = aDatabase();
  const renaming = ([path, name]: readonly [string, string], version: number) =>
    aMigration(version, [{ kind: "renameColumn", table: "t", path, name }]);
  const pending = [renaming(["a", "b"], 2), renaming(["b", "c"], 3)];
  await up(optionsFor(memory));
  const cutOff: Target = {
    ...memory,
    execute: () => Promise.reject(new MigrateError("ERR_TARGET_UNREACHABLE", { target: "memory", problem: "killed" })),
  };
  await expect(up(optionsFor(cutOff, ...pending))).rejects.toThrow("killed");
  const besideOthers: Target = {
    ...memory,
    execute: async (action, seen) => {
      if (action.kind === "setMetadata") throw new Error("no");
      const [column] = tables.get("t")!.columns;
      tables.write("t", "metadata", { columns: [{ ...column!, metadata: { theirs: "1" } }] });
      return await memory.execute(action, seen);
    },
  };
  const afterMigration = () => {
    throw new Error("the pager is off");
  };
  const events: RunEvent[] = [];
  const hooks = { target: "memory", hooks: { afterMigration } };
  const emit = (event: RunEvent) => void events.push(event);
  const ended = up({ ...optionsFor(besideOthers, ...pending), hooks, emit });
  await expect(ended).rejects.toMatchObject({ code: "ERR_METADATA_LOST" });
  expect(events.at(-1)).toMatchObject({ event: "hookFailed", problem: expect.stringContaining("the pager is off") });
});
