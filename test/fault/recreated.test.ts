/** What others do to a table between the look at it and the call, on the embedded engine. */
import type { DownChoice } from "../../src/commands/down.ts";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MigrateError } from "../../src/errors/migrate-error.ts";
import { int32 } from "../../src/schema/declare/type-builders.ts";
import { btree } from "../../src/schema/declare/index-builders.ts";
import {
  addColumn,
  createIndex,
  dropColumn,
  dropIndex,
  dropTable,
  renameColumn,
  setNullable,
} from "../../src/steps/index.ts";
import { isLong } from "../support/rounds.ts";
import { belongingsOf, columnsOf, lancedb, rowsOf } from "../support/tables.ts";
import { aDatabase, before, old, table, theirs } from "./recreated-scene.ts";

const rename = renameColumn("t", "a", "c");
const drop = dropColumn("t", "a");
const kinds = [
  ["a rename", rename],
  ["a drop", dropColumn("t", "a")],
  ["a nullability", setNullable("t", "id", true)],
] as const;
// The new table may be at a lower version than the old one, at the same, or at a higher one.
const lengths = [0, 1, 6];

test.each(
  kinds.flatMap(([what, step], one) =>
    lengths
      // What is found of the new table and which call it was do not depend on each other.
      .filter((_, two) => isLong || one === two)
      .map((more) => [what, more, step] as const),
  ),
)(
  "%s that lands on a table which was recreated meanwhile is undone, and the run fails (%i more versions)",
  async (_, more, step) => {
    const { folder, run, recreate } = await aDatabase([step]);
    const error = await run({ beforeCall: () => recreate(theirs, more) });
    expect(error).toMatchObject({ code: "ERR_TABLE_RECREATED", outcome: "failed" });
    const made = more + 3;
    expect(String(error)).toContain(
      `the call changed the new table in version ${made}, and version ${more + 2}, the one before it, was restored`,
    );
    expect(await columnsOf(folder, "t")).toEqual(before);
    expect(await rowsOf(folder, "t")).toEqual(theirs);
    // The new table is migrated like any other.
    expect(await run()).toMatchObject({ applied: 1 });
    expect(await rowsOf(folder, "t")).toHaveLength(2);
  },
);

test("what is recreated at a lower version is undone too", async () => {
  const { folder, run, recreate } = await aDatabase([rename]);
  const error = await run({ beforeCall: () => recreate([]) });
  expect(String(error)).toContain("the call changed the new table in version 3, and version 1");
  expect(await columnsOf(folder, "t")).toEqual(before);
  expect(await rowsOf(folder, "t")).toEqual([]);
});

/** Right before a commit of the engine that has read all that it needs: the commit then lands on the new table. */
const recreatedBeforeCommit = async (folder: string, recreate: () => Promise<void>) => {
  const versions = join(folder, "t.lance", "_versions");
  const [newest] = readdirSync(versions).toSorted();
  const manifest = readFileSync(join(versions, newest!));
  await recreate();
  writeFileSync(join(versions, newest!), manifest);
};

test.each([
  ["an index that is made", [createIndex("t", "id", btree(), { name: "i" })]],
  ["an index that is dropped", [createIndex("t", "id", btree(), { name: "i" }), dropIndex("t", "i")]],
] as const)("%s for a table that was recreated meanwhile does not break the new one", async (_, steps) => {
  const { folder, run, recreate, handle } = await aDatabase(steps);
  const isLast = async () => (await (await handle()).listIndices()).length === steps.length % 2;
  let isDone = false;
  const afterCalls = async () => {
    if (isDone || !(await isLast())) return;
    isDone = true;
    await recreatedBeforeCommit(folder, () => recreate(theirs));
    await expect(rowsOf(folder, "t")).rejects.toThrow();
  };
  const error = await run({ afterCalls });
  expect(error).toMatchObject({ code: "ERR_TABLE_RECREATED", outcome: "failed" });
  expect(String(error)).toContain(`in version ${steps.length + 2}, and version 2, the one before it, was restored`);
  expect(await rowsOf(folder, "t")).toEqual(theirs);
});

test.each([0, 2])(
  "what others have written on top of a call for a table that was recreated is not undone, and how to is said (%i more versions)",
  async (more) => {
    const { run, recreate, handle } = await aDatabase([rename]);
    const beforeCall = () => recreate(theirs, more);
    const afterCall = async () => await (await handle()).add([{ id: 30, b: "on top" }]);
    const error = await run({ beforeCall, afterCall });
    expect(error).toMatchObject({ code: "ERR_TABLE_RECREATED", outcome: "failed" });
    const [before, made, newest] = [more + 2, more + 3, more + 4];
    expect(String(error)).toContain(
      `the call changed the new table in version ${made}, and others have written since (up to version ${newest}), so it was not undone: t may be unreadable since, or lack rows; restore version ${before} and write again what came later; check the table, then run the command again`,
    );
  },
);

test("an empty table's call empties no other one", async () => {
  const { folder, run, recreate, handle } = await aDatabase([rename]);
  await recreate([]);
  expect(await run({ beforeCall: () => recreate(theirs) })).toMatchObject({ code: "ERR_TABLE_RECREATED" });
  expect(await rowsOf(folder, "t")).toEqual(theirs);
  expect(await (await handle()).countRows()).toBe(2);
});

test.each([
  ["with the columns of before", 1, theirs],
  ["with the columns of after and as many rows", 1, [{ id: 8, c: "theirs", b: "theirs" }]],
  ["with more versions", 9, theirs],
] as const)(
  "of a table that was recreated after the call nothing is undone, and the run fails (%s)",
  async (_, more, rows) => {
    const { folder, run, recreate, handle } = await aDatabase([rename]);
    const afterCall = async () => {
      if (!("c" in rows[0]!)) await (await handle()).alterColumns([{ path: "c", rename: "a" }]);
      await recreate([...rows], more);
    };
    const error = await run({ afterCall });
    expect(error).toMatchObject({ code: "ERR_TABLE_RECREATED", outcome: "failed" });
    expect(String(error)).toContain("whether the call changed the new table is unknown");
    expect(await rowsOf(folder, "t")).toEqual(rows);
    expect(await (await handle()).version()).toBe(more + 2);
  },
);

test("a call that was refused is not sent again when the table was recreated before the next try", async () => {
  const { folder, run, recreate, handle } = await aDatabase([addColumn("t", "n", int32(), { as: "id" })]);
  const error = await run({
    beforeCall: async () => await (await handle()).add(old),
    afterRefusal: async () => await recreate(theirs, 9),
  });
  expect(error).toMatchObject({
    code: "ERR_TABLE_CHANGED",
    details: { differences: ["it was dropped and recreated"] },
  });
  expect(await columnsOf(folder, "t")).toEqual(before);
});

test("a column that an application replaced since the plan was made is not dropped", async () => {
  const { folder, run, handle } = await aDatabase([dropColumn("t", "b")]);
  const beforeLook = async () => {
    const now = await handle();
    await now.dropColumns(["b"]);
    await now.addColumns([{ name: "b", valueSql: "id * 2" }]);
  };
  expect(await run({ beforeLook })).toMatchObject({
    code: "ERR_TABLE_CHANGED",
    outcome: "failed",
    details: {
      file: "0002_step.mjs",
      step: 1,
      table: "t",
      differences: expect.arrayContaining(["column b is int32 instead of utf8"]),
    },
  });
  expect(await rowsOf(folder, "t")).toEqual([{ id: 1, a: "old", b: 2 }]);
});

const set = { note: "theirs" };
const noAnswer = async () => {
  throw new Error("no answer");
};
/** The run can reach nothing any more, as if it had been stopped. */
const goneAfterCall = () => {
  let isGone = false;
  const afterCall = async () => {
    isGone = true;
    await noAnswer();
  };
  const beforeLooks = async () => {
    if (isGone) throw new MigrateError("ERR_TARGET_UNREACHABLE", { target: "test", problem: "gone" });
  };
  return { afterCall, beforeLooks };
};

test.each([
  ["a rename", rename, "c", "b"],
  ["a drop", dropColumn("t", "id"), "a", "b"],
  ["a nullability", setNullable("t", "id", true), "a", "b"],
] as const)("metadata of columns that others set right before %s survives it", async (_, step, path, other) => {
  const { folder, run, handle } = await aDatabase([step]);
  await (await handle()).updateFieldMetadata([{ path: other, metadata: { removed: "later", stays: "as it is" } }]);
  const beforeCall = async () => {
    await (
      await handle()
    ).updateFieldMetadata([
      { path: "a", metadata: set },
      { path: other, metadata: { removed: null } },
    ]);
    await (await handle()).add([{ id: 2, a: "x", b: "x" }]);
  };
  const result = await run({ beforeCall });
  expect(result).toMatchObject({ applied: 1 });
  expect(await belongingsOf(folder, "t")).toMatchObject({
    metadata: { [path]: set, [other]: { stays: "as it is" } },
  });
  expect(JSON.stringify(await belongingsOf(folder, "t"))).not.toContain("removed");
  expect(await rowsOf(folder, "t")).toHaveLength(2);
});

test.each(
  [["a rename", rename, "c"] as const, ["a drop", drop, "b"] as const].flatMap(([what, step, path]) => [
    [`${what} without an answer`, step, path, false] as const,
    [`${what} of a run that was stopped`, step, path, true] as const,
  ]),
)("metadata of columns that others set right before %s survives it", async (_, step, path, isStopped) => {
  const { folder, run, handle } = await aDatabase([step]);
  const beforeCall = async () => {
    await (await handle()).updateFieldMetadata(["a", "b"].map((one) => ({ path: one, metadata: set })));
    await append(handle);
  };
  const first = await run({ beforeCall, ...(isStopped ? goneAfterCall() : { afterCall: noAnswer }) });
  if (isStopped) {
    expect(first).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
    await append(handle);
  }
  expect(isStopped ? await run() : first).toMatchObject({ applied: 1 });
  expect(await belongingsOf(folder, "t")).toMatchObject({ metadata: { [path]: set } });
});

test("metadata survives the rename of a run that was taken for stopped and goes on meanwhile", async () => {
  const { folder, run, handle } = await aDatabase([rename, addColumn("t", "n", int32())]);
  const beforeCall = async () => void (await (await handle()).updateFieldMetadata([{ path: "a", metadata: set }]));
  expect(await run({ beforeCall, ...goneAfterCall() })).toMatchObject({ code: "ERR_TARGET_UNREACHABLE" });
  const afterPlan = async () => await (await handle()).addColumns([{ name: "n", valueSql: "cast(null as int)" }]);
  expect(await run({ afterPlan })).toMatchObject({ applied: 1 });
  expect(await belongingsOf(folder, "t")).toMatchObject({ metadata: { c: set } });
});

test("that it is unknown whether metadata was lost is reported when the call has no answer", async () => {
  const { run, handle } = await aDatabase([rename]);
  const afterCall = async () => {
    await cleanUp(handle);
    throw new Error("no answer");
  };
  expect(await run({ beforeCall: () => append(handle), afterCall })).toMatchObject({ code: "ERR_METADATA_LOST" });
  expect(await run()).toMatchObject({ applied: 1 });
});

type Handle = Awaited<ReturnType<typeof aDatabase>>["handle"];
const append = async (handle: Handle) => await (await handle()).add([{ id: 2, b: "theirs" }]);
/** What another client does. The newest version is gone then, but for one that a migration keeps. */
const cleanUp = async (handle: Handle) => {
  const version = await (await handle()).version();
  await append(handle);
  const now = await handle();
  await now.optimize({ cleanupOlderThan: new Date(Date.now() + 1_000) });
  expect((await now.listVersions()).map((one) => one.version)).not.toContain(version);
};

test.each([
  ...kinds.flatMap(([what, step], one) =>
    (["beforeCall", "afterCall"] as const)
      .filter((_, two) => isLong || one % 2 === two)
      .map((when) => [what, when, step] as const),
  ),
  ["a new column", "afterCall", addColumn("t", "n", int32(), { as: "id" })] as const,
])("%s is not undone when old versions are cleaned up meanwhile (%s)", async (_, when, step) => {
  const { folder, run, handle } = await aDatabase([step]);
  const others = { beforeLook: () => append(handle), [when]: () => cleanUp(handle) };
  expect(await run(others)).toMatchObject({ applied: 1 });
  expect(await columnsOf(folder, "t")).not.toEqual(before);
  expect(await rowsOf(folder, "t")).toHaveLength(3);
});

test.each([
  { place: "the last action", steps: [rename] },
  { place: "an action before the last", steps: [rename, addColumn("t", "n", int32(), { as: "id" })] },
])(
  "an action that may have lost metadata of others is done, and the run fails: $place of its migration",
  async ({ steps }) => {
    const { folder, run, handle, records } = await aDatabase(steps);
    const others = {
      beforeCall: async () => void (await (await handle()).updateFieldMetadata([{ path: "b", metadata: set }])),
      afterCall: async () => await cleanUp(handle),
    };
    const error = await run(others);
    expect(error).toMatchObject({ code: "ERR_METADATA_LOST", outcome: "failed" });
    expect(String(error)).toContain("whether metadata of its columns was lost is unknown");
    expect((await records()).findLast(({ event }) => event === "failed")).toMatchObject({ version: 2, step: 1 });
    expect(await columnsOf(folder, "t")).toContain("c: utf8");
    expect(await run()).toMatchObject({ applied: 1 });
  },
);

test("a table whose versions are cleaned up between two tries is the same", async () => {
  const { run, handle } = await aDatabase([addColumn("t", "n", int32(), { as: "id" })]);
  const others = { beforeCall: () => append(handle), afterRefusal: () => cleanUp(handle) };
  expect(await run(others)).toMatchObject({ applied: 1 });
});

test("a table that was recreated is another also where the version that was seen is not listed", async () => {
  const { run, recreate, handle, folder } = await aDatabase([addColumn("t", "n", int32(), { as: "id" })]);
  const error = await run({
    beforeCall: async () => await (await handle()).add(old),
    afterRefusal: async () => {
      await recreate(theirs, 9);
      await cleanUp(handle);
    },
  });
  expect(error).toMatchObject({ code: "ERR_TABLE_CHANGED" });
  expect(await columnsOf(folder, "t")).toEqual(before);
});

test.each(kinds.slice(0, 2))(
  "%s of a run that wakes after another has recreated the table is recorded as late, and undone",
  async (_, step) => {
    const { folder, run, write, records, asleep } = await aDatabase([step]);
    const others = async () => {
      write("0003_again.mjs", [dropTable("t"), table]);
      expect(await run()).toMatchObject({ applied: 2 });
      const made = await (await lancedb.connect(folder)).openTable("t");
      await made.add(theirs);
    };
    const error = await run({ beforeCall: others }, { clock: asleep });
    expect(error).toMatchObject({ code: "ERR_ACTED_LATE" });
    expect(String(error)).toContain("table t was dropped and recreated while the call ran");
    expect((await records()).filter(({ event }) => event === "late")).toMatchObject([{ version: 2, step: 1 }]);
    expect(await columnsOf(folder, "t")).toEqual(before);
    expect(await rowsOf(folder, "t")).toEqual(theirs);
    expect(await run()).toMatchObject({ applied: 0 });
    expect((await records()).filter(({ event }) => event === "looked")).toHaveLength(1);
  },
);

const later = { id: 20, b: "later" };

test.each([1, 6])(
  "after a table was recreated during up, down restores a version of the new one (%i more versions)",
  async (more) => {
    const { folder, run, back, recreate, handle } = await aDatabase([drop]);
    expect(await run({ beforeCall: () => recreate(theirs, more) })).toMatchObject({ code: "ERR_TABLE_RECREATED" });
    expect(await run()).toMatchObject({ applied: 1 });
    await (await handle()).add([later]);
    expect(await back({ reinsert: true })).toMatchObject({ reverted: 1 });
    expect(await columnsOf(folder, "t")).toEqual(before);
    expect(await rowsOf(folder, "t")).toEqual([...theirs, { ...later, a: null }]);
  },
);

test.each<DownChoice>([{}, { reinsert: true }, { accept: ["lossy"] }])(
  "a version of the dropped table is never restored of the one that took its place (%j)",
  async (choice) => {
    const { folder, run, back, recreateAlike } = await aDatabase([drop, dropColumn("t", "b")]);
    const rows = theirs.map(({ id, b }) => ({ id, b }));
    const error = await run({ beforeSecondCall: () => recreateAlike(rows, ["a"]) });
    expect(String(error)).toContain("dropped and recreated");
    expect(await run()).toMatchObject({ applied: 1 });
    expect(String(await back(choice))).toContain(
      "version 2 of table t is not the one that 0002_step.mjs found: the table was dropped and recreated",
    );
    expect(await rowsOf(folder, "t")).toEqual([{ id: 8 }, { id: 9 }]);
  },
);

test.each(["beforeLook", "beforeCall"] as const)(
  "a version of a table that was recreated while down runs is not restored (%s)",
  async (when) => {
    const { folder, run, back, recreateAlike } = await aDatabase([drop]);
    expect(await run()).toMatchObject({ applied: 1 });
    const rows = theirs.map(({ id, b }) => ({ id, b }));
    const error = await back({ accept: ["lossy"] }, { [when]: () => recreateAlike(rows, ["a"]) });
    expect(error).toMatchObject({ outcome: "failed" });
    expect(String(error)).toContain("dropped and recreated");
    expect(await rowsOf(folder, "t")).toEqual(rows);
  },
);
