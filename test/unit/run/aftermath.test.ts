import { expect, test } from "vitest";
import { aftermath } from "../../../src/run/aftermath.ts";
import type { Action } from "../../../src/schema/action.ts";
import { memoryTarget } from "../../../src/targets/memory/memory.ts";
import { memoryTables } from "../../../src/targets/memory/tables.ts";
import type { Target } from "../../../src/targets/target.ts";

const rename: Action = { kind: "alterColumns", table: "t", alterations: [{ path: "a", rename: "b" }] };
const a = { name: "a", type: { kind: "int32" }, nullable: true } as const;

/** A rename on a handle of a table that was dropped and recreated meanwhile, in a target that tells less than the embedded engine. */
async function renameOnAnother(less: Partial<Target>, shown: object = {}) {
  const tables = memoryTables();
  const memory = memoryTarget({ name: "memory", model: "embedded", tables });
  tables.create("t", [a]);
  for (let more = 0; more < 3; more++) tables.append("t", []);
  const seen = (await memory.look("t"))!;
  tables.drop("t");
  tables.create("t", [a]);
  const made = await memory.execute(rename, seen);
  return await aftermath(rename, { ...seen, ...shown }, made, { ...memory, ...less });
}

const unknown = { at: undefined, instance: undefined };

test("a call on a table that was recreated is noticed by the table's instance, where the version that it saw is gone", async () => {
  expect(await renameOnAnother({})).toMatchObject({ code: "ERR_TABLE_RECREATED" });
});

test("where versions have no times it is noticed by a version below the one that was seen", async () => {
  const less = { instance: undefined };
  expect(await renameOnAnother(less, unknown)).toMatchObject({ code: "ERR_TABLE_RECREATED" });
  // A target without handles finds tables by their names, so that its call has changed the table that there is.
  expect(await renameOnAnother({ ...less, undo: undefined }, unknown)).toBeUndefined();
});

test("where it is unknown which table a call without an answer has changed, that is said", async () => {
  let now = 0;
  const tables = memoryTables({ now: () => ++now });
  const memory = memoryTarget({ name: "memory", model: "embedded", tables });
  tables.create("t", [a]);
  const seen = (await memory.look("t"))!;
  tables.recreate("t", []);
  expect(await aftermath(rename, seen, undefined, memory)).toMatchObject({
    code: "ERR_TABLE_RECREATED",
    problem: expect.stringContaining("whether the call changed the new table is unknown"),
  });
});
