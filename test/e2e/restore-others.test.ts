/** What others have given a table since a migration, when `down` restores the version from before it. */
import { expect, test } from "vitest";
import { addRows, belongingsOf, lancedb } from "../support/tables.ts";
import { isLong } from "../support/rounds.ts";
import { aProjectOn, key, type Way } from "./support/project-on.ts";
import { onStderr } from "../support/project.ts";

const create = `m.createTable("t", {
  a: m.int32(), b: m.utf8(), n: m.float64(), s: m.struct({ x: m.int32(), y: m.utf8() }),
}), m.setMetadata("t", "a", { ours: "1" }),`;

/** A project with rows, and a second migration that has run and is rolled back by an old version. */
async function migrated(steps: string, way: Way = "lance", before: (data: string) => Promise<void> = async () => {}) {
  const started = await aProjectOn(way);
  const project = { ...started, migrate: async (args: readonly string[]) => await started.migrate(args, key) };
  project.migration("0001_create.ts", create);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.data, "t", [
    { a: 1, b: "1", s: { x: 1, y: "y" } },
    { a: 2, b: "2", s: null },
  ]);
  await set(project.data, "a", { early: "1", gone: "1" });
  await before(project.data);
  project.migration("0002_lossy.ts", steps);
  expect(await project.migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
  return project;
}

async function open(data: string) {
  return await (await lancedb.connect(data)).openTable("t");
}

async function set(data: string, path: string, metadata: Record<string, string | null>): Promise<void> {
  await (await open(data)).updateFieldMetadata([{ path, metadata }]);
}

async function index(data: string, path: string, name: string, config = lancedb.Index.btree()): Promise<void> {
  await (await open(data)).createIndex(path, { config, name });
}

const cases = {
  "a dropped column": { steps: `m.dropColumn("t", "b"),`, now: "a" },
  "an expression": { steps: `m.retypeColumn("t", "b", m.int32(), { using: "cast(b as int)" }),`, now: "a" },
  "inserted rows": { steps: `m.insertRows("t", [{ a: 5, b: "x" }], { key: "a" }),`, now: "a" },
  "a rename and a dropped column": {
    steps: `m.renameColumn("t", "a", "c"), m.dropColumn("t", "b"), m.setMetadata("t", "c", { ours: "2" }),`,
    now: "c",
  },
};

const all = Object.entries(cases).flatMap(([what, one]) =>
  (["lance", "namespace"] as const).map((way) => ({ what, way, ...one })),
);

/** The most complex case on both, as a service puts back by the same calls as a folder; and one whose column is another one. */
const few = all.filter(
  ({ way, what }) => what === "a rename and a dropped column" || (way === "lance" && what === "an expression"),
);

test.each(isLong ? all : few)(
  "$what: metadata and indexes that others have set since stay, on $way",
  async ({ steps, now, way }) => {
    const project = await migrated(steps, way);
    await set(project.data, now, { owner: "app", early: "2", gone: null });
    await set(project.data, "s.x", { unit: "m" });
    await index(project.data, now, "theirs");
    await index(project.data, "s.x", "inside", lancedb.Index.bitmap());
    expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
    expect(await belongingsOf(project.data, "t")).toMatchObject({
      indexes: { theirs: { path: "a", kind: "btree" }, inside: { path: "s.x", kind: "bitmap" } },
      metadata: { a: { ours: "1", early: "2", owner: "app" }, "s.x": { unit: "m" } },
    });
    expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
    expect(await project.migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
  },
);

test("what can't be put back is refused before anything is changed, unless its loss is accepted", async () => {
  const project = await migrated(`m.retypeColumn("t", "b", m.int32(), { using: "cast(b as int)" }),`);
  await index(project.data, "b", "theirs", lancedb.Index.btree());
  await index(project.data, "b", "more", lancedb.Index.bitmap());
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await belongingsOf(project.data, "t")).toMatchObject({ indexes: { theirs: {}, more: {} } });
  const listed = await migrated(`m.dropColumn("t", "b"), m.retypeColumn("t", "n", m.int64(), { using: "7" }),`);
  await index(listed.data, "n", "theirs", lancedb.Index.bitmap());
  const problem =
    "restoring version 4 of t would lose what others have set since: index theirs on n, which can't be on float64: " +
    "bitmap is for integers, bool, text and binary";
  const { version } = await belongings(listed.data);
  for (const command of [["down"], ["down", "--dry-run"]])
    expect(await listed.migrate(command)).toMatchObject(onStderr(4, `${problem}; pass --accept lossy to lose that`));
  const planned = JSON.parse((await listed.migrate(["plan", "--down", "--json"])).stdout);
  expect(planned.blocked.problems).toEqual([problem]);
  expect((await belongings(listed.data)).version).toBe(version);
  const lost = await listed.migrate(["down", "--accept", "lossy"]);
  expect(lost).toMatchObject(onStderr(0, problem));
  expect(await belongingsOf(listed.data, "t")).toMatchObject({ indexes: {} });
});

async function belongings(data: string): Promise<{ readonly version: number }> {
  return { version: await (await open(data)).version() };
}

test("an index that others made again with other parameters is put back as they made it, and one that they let be stays as it is", async () => {
  const project = await migrated(`m.dropColumn("t", "s"),`, "lance", async (data) => {
    await index(data, "b", "text", lancedb.Index.fts({ stem: false }));
    await index(data, "a", "kept");
  });
  await (await open(project.data)).dropIndex("text");
  await index(project.data, "b", "text", lancedb.Index.fts({ stem: true }));
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await belongingsOf(project.data, "t")).toMatchObject({
    indexes: { text: { path: "b", kind: "fts", options: { stem: true } }, kept: { path: "a" } },
  });
});

test("what others set is put back through several migrations that restore versions", async () => {
  const project = await migrated(`m.renameColumn("t", "a", "c"), m.dropColumn("t", "b"),`);
  project.migration("0003_lossy.ts", `m.dropColumn("t", "s"), m.renameColumn("t", "c", "d"),`);
  expect(await project.migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
  await set(project.data, "d", { owner: "app" });
  await index(project.data, "d", "theirs");
  expect(await project.migrate(["down", "--to", "1"])).toMatchObject({ code: 0 });
  expect(await belongingsOf(project.data, "t")).toMatchObject({
    indexes: { theirs: { path: "a", kind: "btree" } },
    metadata: { a: { ours: "1", owner: "app" } },
  });
});
