import { expect, test } from "vitest";
import { MigrateError } from "../../../../src/errors/migrate-error.ts";
import { sideEffects, lostUnanswered } from "../../../../src/run/execute/side-effects.ts";
import type { Action } from "../../../../src/actions/model/action.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";
import type { Target } from "../../../../src/targets/contract/target.ts";

const rename: Action = { kind: "alterColumns", table: "t", alterations: [{ path: "a", rename: "b" }] };
const a = { name: "a", type: { kind: "int32" }, nullable: true } as const;

const held = { check: async () => {}, isSure: () => true };

/** A rename on a handle of a table that was dropped and recreated meanwhile, in a target that tells less than the embedded engine. */
async function renameOnAnother(less: Partial<Target>, shown: object = {}) {
  const tables = memoryTables();
  const memory = memoryTarget({ name: "memory", model: "embedded", tables });
  tables.create("t", [a]);
  for (let more = 0; more < 3; more++) tables.append("t", []);
  const seen = (await memory.describeTable("t"))!;
  tables.drop("t");
  tables.create("t", [a]);
  const { version: made } = await memory.execute(rename, seen);
  return await sideEffects(rename, { ...seen, ...shown }, made, { target: { ...memory, ...less }, lease: held });
}

const unknown = { at: undefined, instance: undefined };

test("a call on a table that was recreated is noticed by the table's instance, where the version that it saw is gone", async () => {
  expect(await renameOnAnother({})).toMatchObject({ code: "ERR_TABLE_RECREATED" });
});

test("where no call can be undone, it is only said that the table was recreated", async () => {
  expect(await renameOnAnother({ undo: undefined })).toMatchObject({
    code: "ERR_TABLE_RECREATED",
    problem: expect.stringContaining("whether the call changed the new table is unknown"),
  });
});

test("where versions have no times it is noticed by a version below the one that was seen", async () => {
  const less = { instance: undefined };
  expect(await renameOnAnother(less, unknown)).toMatchObject({ code: "ERR_TABLE_RECREATED" });
  // A target without handles finds tables by their names, so that its call has changed the table that there is.
  expect(await renameOnAnother({ ...less, undo: undefined }, unknown)).toBeUndefined();
});

test("a table of the same instance is the same, although the version that was seen is gone", async () => {
  const tables = memoryTables();
  const memory = memoryTarget({ name: "memory", model: "embedded", tables });
  tables.create("t", [a]);
  const seen = (await memory.describeTable("t"))!;
  const { version: made } = await memory.execute(rename, seen);
  const gone = async () => await Promise.reject(new Error("there is no such version"));
  const versions = { ...memory.versions!, at: gone, time: async () => undefined };
  const target = { ...memory, versions };
  expect(await sideEffects(rename, { ...seen, at: undefined }, made, { target, lease: held })).toBeUndefined();
});

test("where it is unknown which table a call without an answer has changed, that is said", async () => {
  let now = 0;
  const tables = memoryTables({ now: () => ++now });
  const memory = memoryTarget({ name: "memory", model: "embedded", tables });
  tables.create("t", [a]);
  const seen = (await memory.describeTable("t"))!;
  tables.recreate("t", []);
  expect(await sideEffects(rename, seen, undefined, { target: memory, lease: held })).toMatchObject({
    code: "ERR_TABLE_RECREATED",
    problem: expect.stringContaining("whether the call changed the new table is unknown"),
  });
});

test("a target without old versions has none that could show what a call without an answer has lost", async () => {
  const tables = memoryTables();
  const memory = memoryTarget({ name: "memory", model: "embedded", tables });
  tables.create("t", [a]);
  const seen = await memory.describeTable("t");
  tables.write("t", "metadata", { columns: [{ ...a, metadata: { theirs: "1" } }] });
  await memory.execute(rename, seen);
  const now = await memory.describeTable("t");
  const after = { columns: [{ ...a, name: "b" }] };
  const lost = async (target: Target) =>
    await lostUnanswered(rename, seen, now, after, { target, lease: { ...held, isSure: () => false } });
  expect(await lost(memory)).toMatchObject({ code: "ERR_METADATA_LOST" });
  expect(await lost({ ...memory, versions: undefined })).toBeUndefined();
});

const tookOver = new MigrateError("ERR_LEASE_LOST", { by: "run 2" });

test.each([
  { whose: "its own", lease: held, metadata: { theirs: "1" }, harm: undefined },
  {
    whose: "another run's",
    lease: { ...held, check: () => Promise.reject(tookOver) },
    metadata: undefined,
    harm: /could not be set again \(run 2 took over the lease.*\): b \{"theirs":"1"\}/,
  },
  {
    whose: "nobody's",
    lease: { ...held, isSure: () => false },
    metadata: undefined,
    harm: /could not be set again \(the lease ran out\): b \{"theirs":"1"\}/,
  },
])("metadata that a call has replaced is set again while the lease is $whose", async ({ lease, metadata, harm }) => {
  const tables = memoryTables();
  const target = memoryTarget({ name: "memory", model: "embedded", tables });
  tables.create("t", [a]);
  const seen = (await target.describeTable("t"))!;
  // Others set it between the look and the call, whose handle does not know of it.
  tables.write("t", "metadata", { columns: [{ ...a, metadata: { theirs: "1" } }] });
  const { version: made } = await target.execute(rename, seen);
  expect(tables.get("t")!.columns[0]).not.toHaveProperty("metadata");
  const found = await sideEffects(rename, seen, made, { target, lease });
  expect(tables.get("t")!.columns[0]!.metadata).toEqual(metadata);
  expect(found?.problem).toEqual(harm === undefined ? undefined : expect.stringMatching(harm));
});

test("a table that is recreated while metadata is set again is noticed, and what that did to it is undone", async () => {
  const tables = memoryTables();
  const memory = memoryTarget({ name: "memory", model: "embedded", tables });
  tables.create("t", [a]);
  const seen = (await memory.describeTable("t"))!;
  tables.write("t", "metadata", { columns: [{ ...a, metadata: { theirs: "1" } }] });
  const { version: made } = await memory.execute(rename, seen);
  const target: Target = {
    ...memory,
    execute: (action, before) => {
      tables.recreate("t", [{ a: 1 }]);
      return memory.execute(action, before);
    },
  };
  expect(await sideEffects(rename, seen, made, { target, lease: held })).toMatchObject({
    code: "ERR_TABLE_RECREATED",
    problem: expect.stringContaining("version 1, the one before it, was restored"),
  });
  expect(tables.get("t")!.rows).toEqual([{ a: 1 }]);
});
