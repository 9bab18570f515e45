/** Old versions on the engine itself: what was written since one, restoring it, and rows that are reinserted. */
import { rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { connect, createEmptyTable, type EngineTable } from "../../src/engine/engine.ts";
import { columnsOf, fixedSizeList, float64, int32, struct, utf8 } from "../../src/schema/declare/type-builders.ts";
import { keptName } from "../../src/run/execute/version-names.ts";
import { keepVersion, keptVersions, releaseVersion, versionsOf } from "../../src/engine/versions.ts";
import {
  describeVersion,
  misfitsSince,
  reinsertRows,
  restoreVersion,
} from "../../src/targets/contract/restore-versions.ts";
import { writtenSince } from "../../src/targets/contract/written-since.ts";
import * as fc from "../support/fast-check.ts";
import { temporaryFolder } from "../support/project.ts";
import { rounds } from "../support/rounds.ts";
import { lancedb } from "../support/tables.ts";

// The engine's client knows the fields of its own copy only.
const arrow = createRequire(import.meta.url)("apache-arrow") as typeof import("apache-arrow");

const shape = columnsOf({ id: int32(), a: float64(), b: utf8() });
const same = { id: "id", a: "a", b: "b" };

/** The engine can't return it beside other columns. */
const places = fixedSizeList(struct({ x: int32() }), 1);

const stable = { new_table_enable_stable_row_ids: "true" };

/** A table with rows 1 to `rows`, and how to open it. */
async function aTable(rows: number, columns = shape, storageOptions: Record<string, string> = {}) {
  const folder = temporaryFolder();
  const db = await connect({ uri: folder, storageOptions });
  await createEmptyTable(db, "t", columns);
  const open = async () => await db.openTable("t");
  /** As in a folder, whose manifests can be read, and as in an object store. */
  const places = [versionsOf(open, { folder, table: "t" }), versionsOf(open)];
  const add = async (from: number, to: number) =>
    await (await open()).add(range(from, to).map((id) => ({ id, a: id / 8, b: `b${id}` })));
  if (rows > 0) await add(1, rows);
  return { db, folder, open, add, places, version: await (await open()).version() };
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}

async function idsOf(table: EngineTable): Promise<readonly number[]> {
  return (await table.query().select(["id"]).toArray()).map(({ id }) => id as number);
}

const changes = {
  add: fc.integer({ min: 1, max: 3 }).map((rows) => ({ kind: "add" as const, rows })),
  update: fc.integer({ min: 1, max: 8 }).map((id) => ({ kind: "update" as const, id })),
  upsert: fc.integer({ min: 1, max: 12 }).map((id) => ({ kind: "upsert" as const, id })),
  remove: fc.integer({ min: 1, max: 12 }).map((id) => ({ kind: "remove" as const, id })),
  rename: fc.constant({ kind: "rename" as const }),
  compact: fc.constant({ kind: "compact" as const }),
};

const kinds = [
  ["a plain table", {}],
  ["a table with stable row ids", stable],
] as const;

test.each(kinds)("what was written since a version is counted, whatever that was, on %s", async (_, options) => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: 6 }),
      fc.array(fc.oneof(...Object.values(changes)), { maxLength: 6 }),
      async (rows, all) => {
        const { open, version } = await aTable(rows, shape, options);
        const table = await open();
        const old = new Set(range(1, rows));
        const others = new Set<number>();
        let next = 20;
        for (const one of all) {
          if (one.kind === "add") {
            const ids = range(next, next + one.rows - 1);
            next += one.rows;
            await table.add(ids.map((id) => ({ id, a: 0, b: "" })));
            for (const id of ids) others.add(id);
          } else if (one.kind === "rename") {
            await table.alterColumns([{ path: "b", rename: "c" }]);
            await table.alterColumns([{ path: "c", rename: "b" }]);
          } else if (one.kind === "compact") {
            await table.optimize();
          } else if (one.kind === "remove") {
            await table.delete(`id = ${one.id}`);
            old.delete(one.id);
            others.delete(one.id);
          } else if (one.kind === "update") {
            await table.update({ where: `id = ${one.id}`, values: { a: 7 } });
            if (old.delete(one.id)) others.add(one.id);
          } else {
            await table
              .mergeInsert("id")
              .whenMatchedUpdateAll()
              .whenNotMatchedInsertAll()
              .execute([{ id: one.id, a: 9, b: "m" }]);
            old.delete(one.id);
            others.add(one.id);
          }
        }
        expect(await sinceOf(open, version)).toEqual({ written: others.size, gone: rows - old.size });
        await restoreVersion(versionsOf(open), { version, after: await table.version() });
        expect(await idsOf(await open())).toEqual(range(1, rows));
        expect(await sinceOf(open, version)).toEqual(none);
      },
    ),
    { numRuns: rounds(12, 40) },
  );
});

test.each(kinds)("rows that are written in place count as changed, on %s", async (_, options) => {
  const { open, version } = await aTable(5, shape, options);
  const table = await open();
  await table.createIndex("id");
  await table
    .mergeInsert("id")
    .whenMatchedUpdateAll()
    .execute([{ id: 1, a: 9 }]);
  expect(await sinceOf(open, version)).toEqual({ written: 1, gone: 1 });
});

test.each(kinds)(
  "a column that was recreated counts as changed, also with other values or none, on %s",
  async (_, options) => {
    for (const [valueSql, rows] of [
      ["upper(b)", 3],
      ["arrow_cast(null, 'Utf8')", 3],
      ["b", 0],
    ] as const) {
      const { open, version } = await aTable(3, shape, options);
      const table = await open();
      await table.addColumns([{ name: "c", valueSql }]);
      await table.dropColumns(["b"]);
      await table.alterColumns([{ path: "c", rename: "b" }]);
      expect(await sinceOf(open, version)).toEqual({ written: rows, gone: rows });
    }
  },
);

test.each(kinds)("columns that exchanged their names count as changed, on %s", async (_, options) => {
  const { open, version } = await aTable(3, columnsOf({ id: int32(), a: utf8(), b: utf8() }), options);
  const table = await open();
  for (const [path, rename] of [
    ["a", "c"],
    ["b", "a"],
    ["c", "b"],
  ] as const)
    await table.alterColumns([{ path, rename }]);
  expect(await sinceOf(open, version)).toEqual({ written: 3, gone: 3 });
});

test.each(kinds)("columns that exchanged their names in one commit count as changed, on %s", async (_, options) => {
  const { open, places, version } = await aTable(3, columnsOf({ id: int32(), a: utf8(), b: utf8() }), options);
  const swap = [
    { path: "a", rename: "b" },
    { path: "b", rename: "a" },
  ];
  await (await open()).alterColumns(swap);
  for (const place of places) expect(await writtenSince(place, version)).toMatchObject({ added: 3, removed: 3 });
});

test.each(kinds)("a column that was added again as null is not the restored one, on %s", async (_, options) => {
  const { open, places, version } = await aTable(3, shape, options);
  const table = await open();
  await table.dropColumns(["b"]);
  await table.addColumns(new arrow.Field("b", new arrow.Utf8(), true));
  const after = await table.version();
  for (const place of places) expect((await describeVersion(place, version, version)).restored).toBeUndefined();
  await restoreVersion(places[0]!, { version, after });
  for (const place of places)
    expect(await describeVersion(place, version, after)).toMatchObject({ restored: after + 1 });
});

test.each(kinds)("an older version that somebody restored counts as changed, on %s", async (_, options) => {
  const { open, version: first } = await aTable(3, shape, options);
  await (await open()).update({ where: "id = 2", values: { a: 7 } });
  await restoreVersion(versionsOf(open), { version: first, after: first + 1 });
  expect(await sinceOf(open, first + 1)).toEqual({ written: 1, gone: 1 });
});

test("values that print alike are told apart", async () => {
  const values = [
    "arrow_cast('NaN', 'Float64')",
    "arrow_cast('inf', 'Float64')",
    "-arrow_cast('inf', 'Float64')",
    "arrow_cast(null, 'Float64')",
    "0.0",
    "-0.0",
  ];
  for (const from of values)
    for (const to of values) {
      const { open } = await aTable(2);
      const table = await open();
      await table.update({ where: "id = 1", valuesSql: { a: from } });
      const version = await table.version();
      await table.update({ where: "id = 1", valuesSql: { a: to } });
      const rows = from === to ? 0 : 1;
      expect([from, to, await sinceOf(open, version)]).toEqual([from, to, { written: rows, gone: rows }]);
    }
});

test("metadata of a field in a struct, which may come and go, changes no rows", async () => {
  const { open, places } = await aTable(0, columnsOf({ id: int32(), s: struct({ x: int32() }) }));
  await (await open()).updateFieldMetadata([{ path: "s.x", metadata: { note: "here" } }]);
  await (await open()).add([{ id: 1, s: { x: 2 } }]);
  const version = await (await open()).version();
  await (await open()).updateFieldMetadata([{ path: "s.x", metadata: { note: null } }]);
  for (const place of places) expect(await writtenSince(place, version)).toMatchObject({ added: 0, removed: 0 });
});

test("whether rows can be reinserted is looked up part by part, not with all of them in memory", async () => {
  const { open, places, version } = await aTable(0, columnsOf({ id: int32(), v: fixedSizeList(float64(), 1) }));
  const table = await open();
  await table.add([{ id: 2, v: [0] }]);
  const rows = async () => Promise.reject(new Error("too many"));
  const misfits = async (sql: string) =>
    await misfitsSince({ ...places[0]!, rows }, { version, after: version, columns: { id: "id", v: sql } });
  expect(await misfits("v")).toBeUndefined();
  expect(await misfits("arrow_cast([cast('NaN' as double)], 'FixedSizeList(1, Float64)')")).toContain(
    "NaN, and v has some",
  );
  await expect(misfits("none")).rejects.toThrow("none");
});

test("what can't be compared is unknown", async () => {
  const { open, version } = await aTable(3);
  const table = await open();
  await table.delete("id = 2");
  expect(await writtenSince({ ...versionsOf(open), mostCompared: 2 }, version)).toBeUndefined();
});

test("what the engine can't return is unknown", async () => {
  const { open } = await aTable(0, columnsOf({ id: int32(), places }));
  const table = await open();
  await table.add([{ id: 1 }, { id: 2 }]);
  const listed = await table.version();
  await table.delete("id = 1");
  expect(await writtenSince(versionsOf(open), listed)).toBeUndefined();
});

const none = { written: 0, gone: 0 };

async function sinceOf(open: () => Promise<EngineTable>, version: number) {
  const { added, changed, removed } = (await writtenSince(versionsOf(open), version))!;
  return { written: added + changed, gone: changed + removed };
}

test("restored once more, rows that came after the first time stay", async () => {
  const { open, add, version } = await aTable(3);
  await (await open()).delete("id = 2");
  const after = await (await open()).version();
  await restoreVersion(versionsOf(open), { version, after });
  await add(10, 11);
  await restoreVersion(versionsOf(open), { version, after });
  expect(await idsOf(await open())).toEqual([1, 2, 3, 10, 11]);
});

test("a version is restored once more after the migration ran once more", async () => {
  const { open, version } = await aTable(3);
  await (await open()).delete("id = 2");
  await restoreVersion(versionsOf(open), { version, after: await (await open()).version() });
  await (await open()).delete("id = 2");
  await restoreVersion(versionsOf(open), { version, after: await (await open()).version() });
  expect(await idsOf(await open())).toEqual([1, 2, 3]);
});

test("a commit that leaves a version's files as they are is not taken for its restoring", async () => {
  const { open, version } = await aTable(3);
  const after = await (await open()).dropColumns(["a"]);
  await (await open()).updateFieldMetadata([{ path: "b", metadata: { unit: "s" } }]);
  await restoreVersion(versionsOf(open), { version, after: after.version });
  expect((await (await open()).schema()).fields.map(({ name }) => name)).toEqual(["id", "a", "b"]);
});

test("rows that are rewritten with values as wide are no restoring, nor is an index that comes after", async () => {
  const { open, version } = await aTable(3);
  const table = await open();
  const after: number[] = [];
  for (const a of [5.5, 6.5]) {
    await table.update({ values: { a } });
    after.push(await table.version());
  }
  await table.createIndex("id");
  await restoreVersion(versionsOf(open), { version: after[0]!, after: after[1]! });
  const [row] = await (await open()).query().toArray();
  expect(row.a).toBe(5.5);
  const restored = await restoreVersion(versionsOf(open), { version, after: after[0]! });
  expect(await (await open()).countRows("a < 1")).toBe(3);
  expect(await describeVersion(versionsOf(open), version, after[0]!)).toMatchObject({ restored });
  expect((await describeVersion(versionsOf(open), version, restored)).restored).toBeUndefined();
});

test("an index that is made after a restoring hides no rows that came before it", async () => {
  const { open, add, version } = await aTable(3);
  const { version: after } = await (await open()).dropColumns(["a"]);
  await (await open()).add([{ id: 10, b: "theirs" }]);
  await restoreVersion(versionsOf(open), { version, after });
  await (await open()).createIndex("id");
  await reinsertRows(versionsOf(open), { version, after, columns: { ...same, a: "arrow_cast(NULL, 'Float64')" } });
  expect(await idsOf(await open())).toEqual([1, 2, 3, 10]);
  await add(11, 11);
  await reinsertRows(versionsOf(open), {
    version,
    after,
    mayBeDone: true,
    columns: { ...same, a: "arrow_cast(NULL, 'Float64')" },
  });
  expect(await idsOf(await open())).toEqual([1, 2, 3, 10, 11]);
});

test.each(kinds)(
  "where rows were changed nothing is reinserted, and the error names the version that has them, on %s",
  async (_, options) => {
    const { open, add, version: first } = await aTable(3, shape, options);
    await add(4, 5);
    const version = first + 1;
    const { version: after } = await (await open()).dropColumns(["a"]);
    await (await open()).update({ where: "id = 2", values: { b: "new" } });
    await restoreVersion(versionsOf(open), { version, after });
    await expect(
      reinsertRows(versionsOf(open), { version, after, columns: { ...same, a: "arrow_cast(NULL, 'Float64')" } }),
    ).rejects.toThrow(/1 row was changed or removed .*version 5 still holds them/);
    expect(await idsOf(await open())).toEqual([1, 2, 3, 4, 5]);
  },
);

test.each(kinds)("rows that came before or after a compaction are reinserted once, on %s", async (_, options) => {
  const { open, version } = await aTable(3, shape, options);
  const { version: after } = await (await open()).dropColumns(["a"]);
  await (await open()).add([{ id: 10, b: "one" }]);
  await (await open()).optimize();
  await (
    await open()
  ).add([
    { id: 11, b: "two" },
    { id: 11, b: "two" },
  ]);
  await restoreVersion(versionsOf(open), { version, after });
  for (let times = 0; times < 2; times++)
    await reinsertRows(versionsOf(open), {
      version,
      after,
      mayBeDone: times > 0,
      columns: { ...same, a: "arrow_cast(NULL, 'Float64')" },
    });
  expect(await idsOf(await open())).toEqual([1, 2, 3, 10, 11, 11]);
});

test("rows that came since are reinserted once, also those that came last; and nobody else's are taken for them", async () => {
  const { open, add, version } = await aTable(3);
  const table = await open();
  await table.alterColumns([{ path: "a", dataType: "float" as never }]);
  const after = await (await open()).version();
  const since = after;
  await add(10, 11);
  await restoreVersion(versionsOf(open), { version, after });
  // As many, by somebody else, before ours.
  await add(30, 31);
  for (let times = 0; times < 3; times++)
    await reinsertRows(versionsOf(open), {
      version,
      after,
      mayBeDone: times > 0,
      since,
      columns: { ...same, a: "arrow_cast(a, 'Float64')" },
    });
  expect(await idsOf(await open())).toEqual([1, 2, 3, 30, 31, 10, 11]);
  const [row] = await (await open()).query().where("id = 11").toArray();
  expect(row.toJSON()).toEqual({ id: 11, a: 11 / 8, b: "b11" });
});

test("types that apache-arrow can't read are reinserted, and odd names", async () => {
  const { open } = await aTable(0, columnsOf({ id: int32() }), stable);
  const table = await open();
  await table.add([{ id: 1 }]);
  const lists = (items: string) => `arrow_cast(make_array(${items}), 'LargeList(Int32)')`;
  await table.addColumns([{ name: 'Größe "x" (m)', valueSql: lists("1, 2") }]);
  const version = await table.version();
  await table.addColumns([{ name: "list", valueSql: lists("1, 2") }]);
  const after = await table.version();
  const columns = ["id", 'Größe "x" (m)'].map((name) => [name, `\`${name}\``] as const);
  const { rows, append } = versionsOf(open);
  await append(await rows(after, "id = 1", [...columns, ["list", lists("3")]]));
  await restoreVersion(versionsOf(open), { version, after });
  for (let times = 0; times < 2; times++)
    await reinsertRows(versionsOf(open), {
      version,
      after,
      mayBeDone: times > 0,
      since: after,
      columns: { id: "id", 'Größe "x" (m)': "list" },
    });
  expect(await (await open()).countRows('array_length(`Größe "x" (m)`) = 1')).toBe(1);
});

test("where as many rows came since that can't be read, none are reinserted, since they may be there", async () => {
  const folder = temporaryFolder();
  const entry = new arrow.Struct([
    new arrow.Field("key", new arrow.Utf8(), false),
    new arrow.Field("value", new arrow.Utf8(), true),
  ]);
  const map = new arrow.Map_(new arrow.Field("entries", entry, false) as never);
  const fields = [new arrow.Field("id", new arrow.Int32(), true), new arrow.Field("map", map, true)];
  await (await lancedb.connect(folder, { storageOptions: stable })).createEmptyTable("t", new arrow.Schema(fields));
  const db = await connect({ uri: folder });
  const open = async () => await db.openTable("t");
  const add = async (row: Record<string, number>) => await (await open()).add([row]);
  await add({ id: 1 });
  const version = await (await open()).version();
  await (await open()).addColumns([{ name: "more", valueSql: "1" }]);
  const after = await (await open()).version();
  await add({ id: 3, more: 1 });
  await restoreVersion(versionsOf(open), { version, after });
  await add({ id: 4 });
  const putting = { version, after, since: after, columns: { id: "id", map: "map" } };
  await expect(reinsertRows(versionsOf(open), { ...putting, mayBeDone: true })).rejects.toThrow(
    `1 row was added before version ${version} was restored, and it is unknown whether they were reinserted`,
  );
  expect(await idsOf(await open())).toEqual([1, 4]);
});

test("a version is kept through a cleaning up, until it is let go", async () => {
  const { open, add, version } = await aTable(3);
  const names = [keptName(7, version, 1, "_migrations"), keptName(7, version, 12, "_my-own.ledger")];
  for (const name of names) await keepVersion(open, version, name);
  expect(new Set(await keptVersions(open))).toEqual(new Set(names.map((name) => ({ name, version }))));
  await add(5, 6);
  const cleanUp = async () =>
    await (await open()).optimize({ cleanupOlderThan: new Date(Date.now() + 1_000), deleteUnverified: true });
  await cleanUp();
  expect(await writtenSince(versionsOf(open), version)).toMatchObject({ added: 2, removed: 0 });
  await expect(writtenSince(versionsOf(open), 1)).rejects.toThrow("version 1 is gone: old versions were cleaned up");
  for (const name of [...names, ...names]) await releaseVersion(open, name);
  expect(await keptVersions(open)).toEqual([]);
  await cleanUp();
  await expect(restoreVersion(versionsOf(open), { version, after: version })).rejects.toThrow(
    `version ${version} is gone`,
  );
  // Why it is no tag.
  const table = await open();
  await (await table.tags()).create("kept", await table.version());
  await add(8, 9);
  await expect(cleanUp()).rejects.toThrow("1 tagged version(s) have been marked for cleanup");
});

test("a version that is kept under a name already is not kept twice", async () => {
  const { open, version } = await aTable(3);
  const name = keptName(7, version, 1, "_migrations");
  await keepVersion(open, version, name);
  await keepVersion(open, version, name);
  expect(await keptVersions(open)).toEqual([{ name, version }]);
});

test("files without a branch, which a run left that was killed while it kept a version, are in nobody's way", async () => {
  const { folder, open, version } = await aTable(3);
  const [killed, next] = [keptName(7, version, 1, "_migrations"), keptName(7, version, 2, "_migrations")];
  await keepVersion(open, version, killed);
  rmSync(join(folder, "t.lance", "_refs", "branches", `lance-migrate%2F${killed}.json`));
  await keepVersion(open, version, next);
  expect(await keptVersions(open)).toEqual([{ name: next, version }]);
  // A name that is spoiled in this way can be used once more, and released.
  await keepVersion(open, version, killed);
  expect(await keptVersions(open)).toEqual(expect.arrayContaining([{ name: killed, version }]));
  await releaseVersion(open, killed);
  expect(await keptVersions(open)).toEqual([{ name: next, version }]);
  await (await open()).optimize({ cleanupOlderThan: new Date(Date.now() + 1_000), deleteUnverified: true });
  await expect(keepVersion(open, 99, keptName(8, 99, 2, "_migrations"))).rejects.toThrow("99");
});

/** Why a cleaning up has to open the database by an absolute path; the engine may mend it, and then this fails. */
test("a cleaning up through a relative path removes what branches keep", async () => {
  const folder = temporaryFolder();
  const kept = async (path: string) => {
    const name = `db-${path}`;
    const db = await connect({ uri: join(folder, name) });
    await createEmptyTable(db, "t", shape);
    await (await db.openTable("t")).add([{ id: 1, a: 1, b: "b" }]);
    const open = async () => await db.openTable("t");
    const version = await (await open()).version();
    await keepVersion(open, version, "0007");
    await (await open()).dropColumns(["a"]);
    const there = await connect({ uri: relative(process.cwd(), join(folder, name)) });
    const cleaned = path === "relative" ? there : db;
    await (
      await cleaned.openTable("t")
    ).optimize({ cleanupOlderThan: new Date(Date.now() + 1_000), deleteUnverified: true });
    return (await (await open()).listVersions()).some((one) => one.version === version);
  };
  expect([await kept("absolute"), await kept("relative")]).toEqual([true, false]);
});
