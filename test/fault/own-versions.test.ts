/** Which versions a migration made itself, on the embedded engine: what others write beside it is not lost on the way back. */
import type { DownChoice } from "../../src/commands/down.ts";
import { expect, test } from "vitest";
import { MigrateError } from "../../src/errors/migrate-error.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import { int32 } from "../../src/schema/declare/type-builders.ts";
import {
  addColumn,
  addComputedColumn,
  createTable,
  dropColumn,
  dropIndex,
  execute,
  insertRows,
  refreshColumn,
} from "../../src/steps/index.ts";
import { open } from "../../src/targets/lance/lance.ts";
import { addRows, lancedb, rowsOf } from "../support/tables.ts";
import { aDatabase, old } from "./recreated-scene.ts";

const computed = addComputedColumn("t", "twice", int32(), "id * 2");
const refresh = refreshColumn("t", "twice");
const drop = dropColumn("t", "b");

test("what others append beside a step that had nothing to commit was written since", async () => {
  const { folder, run, back, handle, write } = await aDatabase([computed, refresh]);
  expect(await run()).toMatchObject({ applied: 1 });
  write("0003_again.mjs", [refresh, drop]);
  const afterCall = async () => await (await handle()).add([{ id: 2, a: "late", b: "late" }]);
  expect(await run({ afterCall })).toMatchObject({ applied: 1 });
  expect(await back()).toMatchObject({ code: "ERR_ROLLBACK_BLOCKED" });
  expect(await rowsOf(folder, "t")).toHaveLength(old.length + 1);
});

// The plan knows nothing of the indexes of a table that it makes, and the engine refuses to drop one that is not there.
const made = [createTable("u", { id: int32() }, { rows: [{ id: 1 }] }), dropIndex("u", "none")];

test("a table that an index was to be dropped of is dropped without consent where nobody has written to it", async () => {
  const { run, back } = await aDatabase(made);
  expect(await run()).toMatchObject({ applied: 1 });
  expect(await back()).toMatchObject({ reverted: 1 });
});

test("a table that others write to while an index is to be dropped of it is not dropped without consent", async () => {
  const { folder, run, back } = await aDatabase(made);
  const afterRefusal = async () => await addRows(folder, "u", [{ id: 2 }]);
  expect(await run({ afterRefusal })).toMatchObject({ applied: 1 });
  expect(await rowsOf(folder, "u")).toEqual([{ id: 1 }, { id: 2 }]);
  expect(await back()).toMatchObject({ code: "ERR_ROLLBACK_BLOCKED" });
});

test.each([
  ["refreshes all rows", [refresh]],
  ["refreshes none", [refresh, refresh]],
  ["updates none", [execute("t", { update: { a: "'x'" }, where: "id < 0" })]],
] as const)("a migration that %s beside no other writer can be rolled back without consent", async (_, steps) => {
  const { folder, run, back, write } = await aDatabase([computed]);
  expect(await run()).toMatchObject({ applied: 1 });
  write("0003_more.mjs", [...steps, drop]);
  expect(await run()).toMatchObject({ applied: 1 });
  expect(await back()).toMatchObject({ reverted: 1 });
  expect(await rowsOf(folder, "t")).toMatchObject(old);
});

const since = { id: 20, a: "since" };

test("rows that were appended since are reinserted also where others append the same rows again meanwhile", async () => {
  const { folder, run, back, handle } = await aDatabase([drop]);
  expect(await run()).toMatchObject({ applied: 1 });
  const append = async () => await (await handle()).add([since]);
  await append();
  expect(await back({ reinsert: true }, { beforeSecondCall: append })).toMatchObject({ reverted: 1 });
  const back20 = { ...since, b: null };
  expect(await rowsOf(folder, "t")).toEqual([...old, back20, back20]);
});

test("rows that a run has reinserted before its answer was lost are not reinserted twice", async () => {
  const { folder, run, back, handle } = await aDatabase([drop]);
  expect(await run()).toMatchObject({ applied: 1 });
  await (await handle()).add([since]);
  let calls = 0;
  const fails = async () => {
    if (++calls === 2) throw new Error("no answer");
  };
  expect(await back({ reinsert: true }, { afterCalls: fails })).toMatchObject({ outcome: "failed" });
  expect(await back({ reinsert: true })).toMatchObject({ reverted: 1 });
  expect(await rowsOf(folder, "t")).toEqual([...old, { ...since, b: null }]);
});

// The migration drops a column, so that rolling it back restores a version, and adds one, which rows that are reinserted do not keep.
const added = [drop, addColumn("t", "n", int32())];
const withValue = { id: 2, a: "late", n: 7 };
const withoutValue = { id: 3, a: "late" };

test("values of a new column that rows lose when they are reinserted are named before", async () => {
  const { folder, run, back, handle } = await aDatabase(added);
  expect(await run()).toMatchObject({ applied: 1 });
  await (await handle()).add([withValue]);
  const refused = String(await back());
  expect(refused).toContain(
    "1 row of t was written since, which restoring version 2 would lose; they can be reinserted without what they have in n and with null in b;",
  );
  expect(refused).toContain("pass --reinsert");
  const words: string[] = [];
  const emit: MigratorOptions["emit"] = (event) => void (event.event === "accepted" && words.push(event.words));
  expect(await back({ reinsert: true }, {}, { emit })).toMatchObject({ reverted: 1 });
  expect(words).toEqual([
    "1 row of t was written since, which are reinserted without what they have in n and with null in b",
  ]);
  expect(await rowsOf(folder, "t")).toContainEqual({ id: 2, a: "late", b: null });
});

test.each(["beforeLook", "beforeCall"] as const)(
  "of rows that come while down runs (%s) none is reinserted that would lose a value of a new column",
  async (moment) => {
    const { folder, run, back, handle } = await aDatabase(added);
    expect(await run()).toMatchObject({ applied: 1 });
    const append = async () => void (await (await handle()).add([withValue]));
    const error = await back({}, { [moment]: append });
    expect(error).toMatchObject({ outcome: "failed" });
    expect(String(error)).toMatch(
      moment === "beforeLook"
        ? /rows of t were written/
        : /would lose what they have in n .*version \d+ still holds them/,
    );
    expect(await back({ reinsert: true })).toMatchObject({ reverted: 1 });
    expect(await rowsOf(folder, "t")).toContainEqual({ id: 2, a: "late", b: null });
  },
);

test("rows that come while down runs are reinserted where they have no value of a new column", async () => {
  const { folder, run, back, handle } = await aDatabase(added);
  expect(await run()).toMatchObject({ applied: 1 });
  const append = async () => void (await (await handle()).add([withoutValue]));
  expect(await back({}, { beforeCall: append })).toMatchObject({ reverted: 1 });
  expect(await rowsOf(folder, "t")).toContainEqual({ id: 3, a: "late", b: null });
});

test.each<DownChoice>([{ accept: ["lossy"] }, { reinsert: true }, {}])(
  "rows that were lost with consent do not come back where an older version that holds the same is restored next (%j)",
  async (choice) => {
    const { folder, run, back, handle, write } = await aDatabase([execute("t", { delete: "false" })]);
    expect(await run()).toMatchObject({ applied: 1 });
    write("0003_more.mjs", [insertRows("t", [{ id: 5, a: "x", b: "x" }], { key: "id" })]);
    expect(await run()).toMatchObject({ applied: 1 });
    await (await handle()).add([{ id: 2, a: "late", b: "late" }]);
    expect(await back({ accept: ["lossy"] })).toMatchObject({ reverted: 1 });
    expect(await rowsOf(folder, "t")).toEqual(old);
    expect(await back(choice)).toMatchObject({ reverted: 1 });
    expect(await rowsOf(folder, "t")).toEqual(old);
  },
);

test("a version that somebody restored before is restored once more by down", async () => {
  const { folder, run, back, handle } = await aDatabase([execute("t", { update: { a: "'x'" } })]);
  expect(await run()).toMatchObject({ applied: 1 });
  const table = await handle();
  await table.checkout((await table.version()) - 1);
  await table.restore();
  await (await handle()).add([{ id: 2, a: "late", b: "late" }]);
  expect(await back()).toMatchObject({ code: "ERR_ROLLBACK_BLOCKED" });
  expect(await back({ accept: ["lossy"] })).toMatchObject({ reverted: 1 });
  expect(await rowsOf(folder, "t")).toEqual(old);
});

const deletes = (id: number) => execute("t", { delete: `id = ${id}` });
const dies = async () => {
  throw new MigrateError("ERR_TARGET_UNREACHABLE", { target: "test", problem: "killed" });
};

test("rows that a run deleted before it was killed come back, whichever run resumes", async () => {
  const { folder, run, back } = await aDatabase([deletes(1)]);
  expect(await run({ afterCall: dies })).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
  expect(await rowsOf(folder, "t")).toEqual([]);
  expect(await run()).toMatchObject({ applied: 1 });
  // What others have written beside the killed run is unknown.
  expect(await back({ accept: ["lossy"] })).toMatchObject({ reverted: 1 });
  expect(await rowsOf(folder, "t")).toEqual(old);
});

test("values that others gave a column are not lost unasked where a killed run had added it", async () => {
  const { folder, run, back, handle } = await aDatabase([
    insertRows("t", [{ id: 2, a: "new", b: "new" }], { key: "id" }),
    addColumn("t", "n", int32()),
  ]);
  let calls = 0;
  const afterCalls = async () => void calls++;
  const beforeLooks = async () => await (calls === 2 ? dies() : undefined);
  expect(await run({ afterCalls, beforeLooks })).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
  expect(await run()).toMatchObject({ applied: 1 });
  await (await handle()).update({ values: { n: 42 }, where: "id = 1" });
  expect(await back()).toMatchObject({ code: "ERR_ROLLBACK_BLOCKED" });
  expect(await rowsOf(folder, "t")).toContainEqual(expect.objectContaining({ id: 1, n: 42 }));
});

test("a rollback that ends midway has released the versions of what it has rolled back", async () => {
  const { folder, run, back, write } = await aDatabase([deletes(1)]);
  write("0003_more.mjs", [deletes(2)]);
  expect(await run()).toMatchObject({ applied: 2 });
  const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  const kept = async () => (await target.versions!.kept("t")).map(({ name }) => name);
  expect(await kept()).toHaveLength(2);
  expect(await back({ to: 1, accept: ["lossy"] }, { beforeSecondCall: dies })).toMatchObject({
    code: "ERR_TARGET_UNREACHABLE",
  });
  expect(await kept()).toEqual([expect.stringMatching(/^0002/)]);
});

test.each([true, false])(
  "a table that others made in place of the migration's own, with as many versions, is not dropped (looks tell the time of a version: %s)",
  async (tellsTime) => {
    const { folder, run, back } = await aDatabase([createTable("u", { id: int32() }, { rows: [{ id: 1 }] })]);
    const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
    const describeTable: typeof target.describeTable = async (...given) => {
      const snapshot = await target.describeTable(...given);
      return snapshot && { ...snapshot, at: undefined };
    };
    expect(await run({}, tellsTime ? {} : { target: { ...target, describeTable } })).toMatchObject({ applied: 1 });
    const db = await lancedb.connect(folder);
    const schema = await (await db.openTable("u")).schema();
    await db.dropTable("u");
    await db.createTable("u", [{ id: 2 }], { schema });
    expect(String(await back())).toContain("table u was dropped and recreated after 0002_step.mjs");
    expect(await rowsOf(folder, "u")).toEqual([{ id: 2 }]);
  },
);

test("a row of others does not count as the one that a migration has deleted, where the target keeps no versions", async () => {
  const made = createTable("u", { id: int32() }, { rows: [{ id: 1 }, { id: 2 }] });
  const { folder, run, back } = await aDatabase([made, execute("u", { delete: "id = 1" })]);
  const whole = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  const { restoreTable: _, ...actions } = whole.capabilities.actions;
  const target = { ...whole, versions: undefined, capabilities: { ...whole.capabilities, actions } };
  expect(await run({}, { target })).toMatchObject({ applied: 1 });
  await addRows(folder, "u", [{ id: 3 }]);
  expect(await back({}, {}, { target })).toMatchObject({ code: "ERR_ROLLBACK_BLOCKED" });
  expect(await rowsOf(folder, "u")).toEqual([{ id: 2 }, { id: 3 }]);
});

test("rows that come after a version was restored are not lost to the run that finds it restored", async () => {
  const { folder, run, back } = await aDatabase([deletes(1)]);
  expect(await run()).toMatchObject({ applied: 1 });
  expect(await back({ accept: ["lossy"] }, { afterCall: dies })).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
  const theirs = { id: 2, a: "theirs", b: "theirs" };
  await addRows(folder, "t", [theirs]);
  expect(await back({ accept: ["lossy"] })).toMatchObject({ reverted: 1 });
  expect(await rowsOf(folder, "t")).toEqual([...old, theirs]);
});
