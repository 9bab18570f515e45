import { createTable, dropColumn, int32 } from "lance-migrate";
import { expect, test } from "vitest";
import { down } from "../../../../src/commands/down.ts";
import { history } from "../../../../src/commands/status.ts";
import { up } from "../../../../src/commands/up.ts";
import { aMigration } from "../../../simulate/history.ts";
import { sourceOf } from "../../../simulate/start-run.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";

test("a rollback records the versions of its tables when it begins, so that it can tell whether its restores are done", async () => {
  const tables = memoryTables();
  const target = memoryTarget({ name: "memory", model: "embedded", tables });
  const migrations = sourceOf([
    aMigration(1, [createTable("t", { a: int32(), b: int32() })]),
    aMigration(2, [dropColumn("t", "b")]),
  ]);
  const options = { target, migrations, ledger: "_migrations", lease: { duration: 30_000, patience: 0 } };
  await up(options);
  const { version } = (await target.describeTable("t"))!;
  await down(options, { steps: 1 });
  const begun = (await history(options)).find(({ event }) => event === "reverting");
  expect(begun).toMatchObject({ version: 2, tables: { t: [version, null] } });
});
