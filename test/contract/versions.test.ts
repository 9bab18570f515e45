/** Old versions on the engine itself: what was written since one, restoring it, and rows that are put back. */
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { connect, createEmptyTable, type EngineTable } from "../../src/engine/engine.ts";
import { columnsOf, float64, int32, utf8 } from "../../src/schema/builders.ts";
import { keepVersion, keptVersions, letVersionGo, versionsOf } from "../../src/engine/versions.ts";
import { lookAtVersion, putBack, restoreVersion, writtenSince } from "../../src/targets/old-versions.ts";
import * as fc from "../support/fast-check.ts";
import { temporaryFolder } from "../support/project.ts";

const shape = columnsOf({ id: int32(), a: float64(), b: utf8() });
const same = { id: "id", a: "a", b: "b" };

/** A table with rows 1 to `rows`, and how to open it. */
async function aTable(rows: number, columns = shape) {
  const db = await connect({ uri: temporaryFolder() });
  await createEmptyTable(db, "t", columns);
  const open = async () => await db.openTable("t");
  const add = async (from: number, to: number) =>
    await (await open()).add(range(from, to).map((id) => ({ id, a: id / 8, b: `b${id}` })));
  if (rows > 0) await add(1, rows);
  return { db, open, add, version: await (await open()).version() };
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
  cast: fc.constant({ kind: "cast" as const }),
};

test("what was written since a version is counted, whatever that was", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: 6 }),
      fc.array(fc.oneof(...Object.values(changes)), { maxLength: 6 }),
      async (rows, all) => {
        const { open, version } = await aTable(rows);
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
          } else if (one.kind === "cast") {
            await table.alterColumns([{ path: "b", rename: "b" }]);
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
        expect(await writtenSince(versionsOf(open), version)).toEqual({ added: others.size, gone: rows - old.size });
        await restoreVersion(versionsOf(open), version, await table.version());
        expect(await idsOf(await open())).toEqual(range(1, rows));
        expect(await writtenSince(versionsOf(open), version)).toEqual({ added: 0, gone: 0 });
      },
    ),
    { numRuns: 60 },
  );
});

test("restored once more, rows that came after the first time stay", async () => {
  const { open, add, version } = await aTable(3);
  await (await open()).delete("id = 2");
  const after = await (await open()).version();
  await restoreVersion(versionsOf(open), version, after);
  await add(10, 11);
  await restoreVersion(versionsOf(open), version, after);
  expect(await idsOf(await open())).toEqual([1, 2, 3, 10, 11]);
});

test("a version is restored once more after the migration ran once more", async () => {
  const { open, version } = await aTable(3);
  await (await open()).delete("id = 2");
  await restoreVersion(versionsOf(open), version, await (await open()).version());
  await (await open()).delete("id = 2");
  await restoreVersion(versionsOf(open), version, await (await open()).version());
  expect(await idsOf(await open())).toEqual([1, 2, 3]);
});

test("a commit that leaves a version's files as they are is not taken for its restoring", async () => {
  const { open, version } = await aTable(3);
  const after = await (await open()).dropColumns(["a"]);
  await (await open()).updateFieldMetadata([{ path: "b", metadata: { unit: "s" } }]);
  await restoreVersion(versionsOf(open), version, after.version);
  expect((await (await open()).schema()).fields.map(({ name }) => name)).toEqual(["id", "a", "b"]);
});

test("rows that are written anew with values as wide are no restoring, nor is an index that comes after", async () => {
  const { open, version } = await aTable(3);
  const table = await open();
  const after: number[] = [];
  for (const a of [5.5, 6.5]) {
    await table.update({ values: { a } });
    after.push(await table.version());
  }
  await table.createIndex("id");
  await restoreVersion(versionsOf(open), after[0]!, after[1]!);
  const [row] = await (await open()).query().toArray();
  expect(row.a).toBe(5.5);
  await restoreVersion(versionsOf(open), version, after[0]!);
  expect(await (await open()).countRows("a < 1")).toBe(3);
  expect(await lookAtVersion(versionsOf(open), version, after[0]!)).toMatchObject({ isRestored: true });
  expect(await lookAtVersion(versionsOf(open), version, await (await open()).version())).toMatchObject({
    isRestored: false,
  });
});

test("an index that is made after a restoring hides no rows that came before it", async () => {
  const { open, add, version } = await aTable(3);
  const { version: after } = await (await open()).dropColumns(["a"]);
  await (await open()).add([{ id: 10, b: "theirs" }]);
  await restoreVersion(versionsOf(open), version, after);
  await (await open()).createIndex("id");
  await putBack(versionsOf(open), version, after, { ...same, a: "arrow_cast(NULL, 'Float64')" });
  expect(await idsOf(await open())).toEqual([1, 2, 3, 10]);
  await add(11, 11);
  await putBack(versionsOf(open), version, after, { ...same, a: "arrow_cast(NULL, 'Float64')" });
  expect(await idsOf(await open())).toEqual([1, 2, 3, 10, 11]);
});

test.each([
  ["changed", async (table: EngineTable) => void (await table.update({ where: "id = 2", values: { b: "new" } }))],
  ["moved by a compaction", async (table: EngineTable) => void (await table.optimize())],
])("where rows were %s nothing is put back twice", async (_, change) => {
  const { open, add, version: first } = await aTable(3);
  await add(4, 5);
  const version = first + 1;
  const { version: after } = await (await open()).dropColumns(["a"]);
  await change(await open());
  await restoreVersion(versionsOf(open), version, after);
  await expect(
    putBack(versionsOf(open), version, after, { ...same, a: "arrow_cast(NULL, 'Float64')" }),
  ).rejects.toThrow("rows were changed or moved before version");
  expect(await idsOf(await open())).toEqual([1, 2, 3, 4, 5]);
});

test("rows that came since are put back once, also those that came last; and nobody else's are taken for them", async () => {
  const { open, add, version } = await aTable(3);
  const table = await open();
  await table.alterColumns([{ path: "a", dataType: "float" as never }]);
  const after = await (await open()).version();
  await add(10, 11);
  await restoreVersion(versionsOf(open), version, after);
  // As many, by somebody else, before ours.
  await add(30, 31);
  for (let times = 0; times < 3; times++)
    await putBack(versionsOf(open), version, after, { ...same, a: "arrow_cast(a, 'Float64')" });
  expect(await idsOf(await open())).toEqual([1, 2, 3, 30, 31, 10, 11]);
  const [row] = await (await open()).query().where("id = 11").toArray();
  expect(row.toJSON()).toEqual({ id: 11, a: 11 / 8, b: "b11" });
});

test("types that apache-arrow can't read are put back, and odd names", async () => {
  const { open } = await aTable(0, columnsOf({ id: int32() }));
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
  await restoreVersion(versionsOf(open), version, after);
  for (let times = 0; times < 2; times++)
    await putBack(versionsOf(open), version, after, { id: "id", 'Größe "x" (m)': "list" });
  expect(await (await open()).countRows('array_length(`Größe "x" (m)`) = 1')).toBe(1);
});

test("a version is kept through a cleaning up, until it is let go", async () => {
  const { open, add, version } = await aTable(3);
  await keepVersion(open, 1, "0007");
  await keepVersion(open, version, "0007");
  await keepVersion(open, version, "0008");
  expect(new Set(await keptVersions(open))).toEqual(
    new Set([
      { name: "0007", version },
      { name: "0008", version },
    ]),
  );
  await add(5, 6);
  const cleanUp = async () =>
    await (await open()).optimize({ cleanupOlderThan: new Date(Date.now() + 1_000), deleteUnverified: true });
  await cleanUp();
  expect(await writtenSince(versionsOf(open), version)).toMatchObject({ gone: 3 });
  await expect(writtenSince(versionsOf(open), 1)).rejects.toThrow("version 1 is gone: old versions were cleaned up");
  await letVersionGo(open, "0007");
  await letVersionGo(open, "0008");
  await letVersionGo(open, "0008");
  expect(await keptVersions(open)).toEqual([]);
  await cleanUp();
  await expect(restoreVersion(versionsOf(open), version, version)).rejects.toThrow(`version ${version} is gone`);
  // Why it is no tag.
  const table = await open();
  await (await table.tags()).create("kept", await table.version());
  await add(8, 9);
  await expect(cleanUp()).rejects.toThrow("1 tagged version(s) have been marked for cleanup");
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
