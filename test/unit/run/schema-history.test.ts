import { expect, test } from "vitest";
import { lockOf, schemaRevisions } from "../../../src/run/schema-history.ts";
import { memoryTarget } from "../../simulate/target/memory-target.ts";
import { memoryTables } from "../../simulate/target/memory-tables.ts";
import { sourceOf } from "../../simulate/start-run.ts";

test("the lock file of a project without migrations lists neither migrations nor tables", async () => {
  const target = memoryTarget({ name: "memory", model: "embedded", tables: memoryTables() });
  const lock: unknown = JSON.parse(lockOf(await schemaRevisions({ migrations: sourceOf([]), target })));
  expect(lock).toMatchObject({ migrations: {}, tables: {} });
});
