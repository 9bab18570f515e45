/** What others have given a table since a migration, when `down` restores the version from before it. */
import { expect, test } from "vitest";
import { addRows, belongingsOf, lancedb } from "../support/tables.ts";
import { aProjectOn, key, type Way } from "./support/project-on.ts";

const create = `m.createTable("t", {
  a: m.int32(), b: m.utf8(), s: m.struct({ x: m.int32(), y: m.utf8() }),
}), m.setMetadata("t", "a", { ours: "1" }),`;

/** A project with rows, and a second migration that has run and is rolled back by an old version. */
async function migrated(steps: string, way: Way = "lance") {
  const started = await aProjectOn(way);
  const project = { ...started, migrate: async (args: readonly string[]) => await started.migrate(args, key) };
  project.migration("0001_create.ts", create);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.data, "t", [
    { a: 1, b: "1", s: { x: 1, y: "y" } },
    { a: 2, b: "2", s: null },
  ]);
  await set(project.data, "a", { early: "1", gone: "1" });
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

test.each(all)("$what: metadata and indexes that others have set since stay, on $way", async ({ steps, now, way }) => {
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
});
