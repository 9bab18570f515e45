/** Columns that the engine stores in a way of its own: what a step makes of them is readable, or nothing is changed. */
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { aProjectOn, key } from "../e2e/support/project-on.ts";
import { ofThisCommit } from "../support/rounds.ts";
import { lancedb } from "../support/tables.ts";
import { onStderr } from "../support/project.ts";

// The engine's client knows the fields of its own copy only.
const arrow = createRequire(import.meta.url)("apache-arrow") as typeof import("apache-arrow");

const blob = new Map([["lance-encoding:blob", "true"]]);
const json = new Map([["ARROW:extension:name", "arrow.json"]]);
const field = (name: string, type: import("apache-arrow").DataType, metadata?: Map<string, string>) =>
  new arrow.Field(name, type, true, metadata);

const bytes = [Buffer.from("one"), null, Buffer.alloc(2_000, 7)];

/** Later formats store blobs otherwise. */
const storageOptions = { new_table_data_storage_version: "2.1" };

/** A column that is stored that way, and a field. */
function fieldsWith(type: import("apache-arrow").DataType, metadata: Map<string, string>) {
  const struct = new arrow.Struct([field("k", new arrow.Int32()), field("in", type, metadata)]);
  return [field("id", new arrow.Int32()), field("b", type, metadata), field("s", struct)];
}

const tables = {
  blob: {
    fields: fieldsWith(new arrow.LargeBinary(), blob),
    rows: bytes.map((b, id) => ({ id, b, s: { k: id, in: b } })),
  },
  json: {
    fields: fieldsWith(new arrow.Utf8(), json),
    rows: [{ id: 1, b: '{"a":1}', s: { k: 1, in: '{"a":1}' } }],
  },
};

type Way = "lance" | "namespace";
/** For each commit each kind, on one of the ways. */
const scenes = ofThisCommit(
  [
    ["blob", "lance"],
    ["blob", "namespace"],
    ["json", "namespace"],
    ["json", "lance"],
  ] as const,
  2,
);

async function aScene(kind: keyof typeof tables, way: Way, step: string) {
  const project = await aProjectOn(way);
  const { fields, rows: given } = tables[kind];
  const db = await lancedb.connect(project.data, { storageOptions });
  await (await db.createEmptyTable("t", new arrow.Schema(fields))).add(given);
  const shape = "{ id: m.int32(), b: m.largeBinary(), s: m.struct({ k: m.int32(), in: m.largeBinary() }) }";
  project.migration("0001_t.ts", `m.createTable("t", ${shape}),`);
  expect(await project.migrate(["baseline"], key)).toMatchObject({ code: 0 });
  project.migration("0002_next.ts", step);
  const table = async () => await (await lancedb.connect(project.data)).openTable("t");
  const rows = async () => (await (await table()).query().toArray()).map((row) => JSON.stringify(row, plain));
  return { ...project, table, rows, given };
}

/** JSON has no integers of 64 bits. */
function plain(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

const retypes = [
  ['m.retypeColumn("t", "b", m.binary()),', "t.b"],
  ['m.retypeColumn("t", "s.k", m.int64()),', "t.s.in"],
] as const;

/** Tried for each commit: the service once refused what followed the retype, and no run could end any more. */
const jsonOnService = ["json", "namespace"] as const;
const otherScenes = scenes.filter((scene) => String(scene) !== String(jsonOnService));

test.each([jsonOnService, ...otherScenes].flatMap((scene) => retypes.map((retype) => [...scene, ...retype] as const)))(
  "a %s is not stored as plain bytes by a retype of it, or of what is beside it, on %s: %s",
  async (kind, way, step, path) => {
    const { migrate, table, rows, given } = await aScene(kind, way, step);
    const before = await rows();
    const problem = `the engine stores ${path} as ${kind === "json" ? "JSON" : "a blob"}`;
    for (const command of ["plan", "up"]) expect(await migrate([command], key)).toMatchObject(onStderr(4, problem));
    expect(await rows()).toEqual(before);
    await (await table()).add(given.slice(0, 1));
    expect(await rows()).toHaveLength(given.length + 1);
  },
);

test.each([
  ["a dropped one", 'm.dropColumn("t", "s.in"), m.retypeColumn("t", "s.k", m.int64()),'],
  [
    "one that was made a plain column",
    'm.retypeColumn("t", "b", m.utf8(), { using: "cast(id as string)" }), m.retypeColumn("t", "b", m.largeUtf8()),',
  ],
])("a step on what is left of a blob is not refused in the same run: %s", async (_, steps) => {
  const { migrate, rows, given } = await aScene("blob", "lance", steps);
  expect(await migrate(["up", "--accept", "lossy"], key)).toMatchObject({ code: 0 });
  expect(await rows()).toHaveLength(given.length);
});

test("a struct that is packed is readable after a retype in it", async () => {
  const { data, migrate, migration } = await aProjectOn("lance");
  const packed = new Map([["packed", "true"]]);
  const fields = [field("s", new arrow.Struct([field("k", new arrow.Int32()), field("l", new arrow.Int32())]), packed)];
  const given = [{ s: { k: 1, l: 2 } }, { s: { k: 3, l: 4 } }];
  await (await (await lancedb.connect(data)).createEmptyTable("t", new arrow.Schema(fields))).add(given);
  migration("0001_t.ts", 'm.createTable("t", { s: m.struct({ k: m.int32(), l: m.int32() }) }),');
  expect(await migrate(["baseline"])).toMatchObject({ code: 0 });
  migration("0002_next.ts", 'm.retypeColumn("t", "s.k", m.int64()),');
  expect(await migrate(["up"])).toMatchObject({ code: 0 });
  const table = async () => await (await lancedb.connect(data)).openTable("t");
  await (await table()).add([{ s: { k: 5, l: 6 } }]);
  const rows = (await (await table()).query().toArray()).map((row) => JSON.stringify(row, plain));
  const expected = [...given, { s: { k: 5, l: 6 } }].map(({ s }) => ({ s: { k: String(s.k), l: s.l } }));
  expect(rows).toEqual(expected.map((row) => JSON.stringify(row)));
});

test("rows with columns of other extensions of the engine are reinserted", async () => {
  const { data, migrate, migration } = await aProjectOn("lance");
  const uri = new Map([["ARROW:extension:name", "lance.arrow.image_uri"]]);
  const fields = [field("id", new arrow.Int32()), field("b", new arrow.Utf8(), uri)];
  const db = await lancedb.connect(data);
  await (await db.createEmptyTable("t", new arrow.Schema(fields))).add([{ id: 1, b: "one" }]);
  migration("0001_t.ts", 'm.createTable("t", { id: m.int32(), b: m.utf8() }),');
  expect(await migrate(["baseline"])).toMatchObject({ code: 0 });
  migration("0002_next.ts", 'm.dropColumn("t", "id"),');
  expect(await migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
  await (await db.openTable("t")).add([{ b: "two" }]);
  expect(await migrate(["down", "--reinsert"])).toMatchObject({ code: 0 });
  expect(await (await (await lancedb.connect(data)).openTable("t")).countRows("b = 'two' and id is null")).toBe(1);
});

test.each(scenes)("a column that is recreated in the place of a %s is a plain one, on %s", async (kind, way) => {
  const { migrate, table, rows, given } = await aScene(
    kind,
    way,
    `m.retypeColumn("t", "b", m.utf8(), { using: "cast(id as string)" }),`,
  );
  expect(await migrate(["up", "--accept", "lossy"], key)).toMatchObject({ code: 0 });
  expect((await rows()).map((row) => JSON.parse(row).b)).toEqual(given.map(({ id }) => String(id)));
  await (await table()).add([{ ...given[0]!, b: "more" }]);
  expect(await rows()).toHaveLength(given.length + 1);
  expect(await migrate(["verify"], key)).toMatchObject({ code: 0 });
});

test.each(scenes)(
  "rows are reinserted into a table with a %s only if their values can be read, on %s",
  async (kind, way) => {
    const { migrate, table, rows, given } = await aScene(kind, way, `m.dropColumn("t", "id"),`);
    expect(await migrate(["up", "--accept", "lossy"], key)).toMatchObject({ code: 0 });
    await (await table()).add([{ b: given[0]!.b, s: given[0]!.s }]);
    const before = await rows();
    const ended = await migrate(["down", "--reinsert"], key);
    if (kind === "json") {
      expect(ended).toMatchObject({ code: 0 });
      expect(await rows()).toContain(JSON.stringify({ id: null, b: '{"a":1}', s: { k: 1, in: '{"a":1}' } }));
    } else {
      const words =
        "rows of t can't be reinserted, because b is a blob, whose bytes a query does not return; pass --accept lossy";
      expect(ended).toMatchObject(onStderr(4, words));
      expect(await rows()).toEqual(before);
    }
  },
);

test.each(scenes)("a %s that was dropped comes back beside rows that were added since, on %s", async (kind, way) => {
  const { migrate, table, rows, given } = await aScene(kind, way, `m.dropColumn("t", "b"), m.dropColumn("t", "s"),`);
  expect(await migrate(["up", "--accept", "lossy"], key)).toMatchObject({ code: 0 });
  const before = given.map((row) => JSON.stringify(row, plain));
  await (await table()).add([{ id: 50 }]);
  expect(await migrate(["down", "--reinsert"], key)).toMatchObject({ code: 0 });
  expect(await rows()).toContain(JSON.stringify({ id: 50, b: null, s: null }));
  expect(await rows()).toHaveLength(before.length + 1);
  expect(await migrate(["verify"], key)).toMatchObject({ code: 0 });
});

test.each(["lance", "namespace"] as const)(
  "a blob whose nulls no query shows is not made not null, on %s",
  async (way) => {
    const project = await aProjectOn(way);
    const options = { storageOptions: { new_table_data_storage_version: "2.0" } };
    const db = await lancedb.connect(project.data, options);
    const fields = [field("id", new arrow.Int32()), field("b", new arrow.LargeBinary(), blob)];
    await (await db.createEmptyTable("t", new arrow.Schema(fields))).add([{ id: 1, b: null }]);
    project.migration("0001_t.ts", 'm.createTable("t", { id: m.int32(), b: m.largeBinary() }),');
    expect(await project.migrate(["baseline"], key)).toMatchObject({ code: 0 });
    project.migration("0002_b.ts", 'm.setNullable("t", "b", false),');
    const stderr = expect.stringContaining(
      "the engine stores t.b as a blob, and no query shows its nulls in this file format",
    );
    for (const command of ["plan", "up"])
      expect(await project.migrate([command], key)).toMatchObject({ code: 4, stderr });
  },
);

test("a struct with a field that the engine stores as an extension gets no field", async () => {
  const { data, migrate, migration } = await aProjectOn("lance");
  const uri = new Map([["ARROW:extension:name", "lance.arrow.image_uri"]]);
  const struct = new arrow.Struct([field("in", new arrow.Utf8(), uri)]);
  const storage = { storageOptions: { new_table_data_storage_version: "2.2" } };
  const db = await lancedb.connect(data, storage);
  await (await db.createEmptyTable("t", new arrow.Schema([field("s", struct)]))).add([{ s: { in: "one" } }]);
  migration("0001_t.ts", 'm.createTable("t", { s: m.struct({ in: m.utf8() }) }),');
  expect(await migrate(["baseline"])).toMatchObject({ code: 0 });
  migration("0002_more.ts", 'm.addColumn("t", "s.more", m.int32()),');
  const stderr = expect.stringContaining("the engine stores t.s.in as lance.arrow.image_uri");
  for (const command of ["plan", "up"]) expect(await migrate([command])).toMatchObject({ code: 4, stderr });
});

test("the name of an extension is not given to a column of another type", async () => {
  const { data, migrate, migration } = await aProjectOn("lance");
  const uuid = new Map([
    ["ARROW:extension:name", "arrow.uuid"],
    ["owner", "search"],
  ]);
  const fields = [field("id", new arrow.Int32()), field("u", new arrow.FixedSizeBinary(16), uuid)];
  const db = await lancedb.connect(data);
  await (await db.createEmptyTable("t", new arrow.Schema(fields))).add([{ id: 1, u: Buffer.alloc(16) }]);
  migration("0001_t.ts", 'm.createTable("t", { id: m.int32(), u: m.fixedSizeBinary(16) }),');
  expect(await migrate(["baseline"])).toMatchObject({ code: 0 });
  migration("0002_text.ts", 'm.retypeColumn("t", "u", m.utf8(), { using: "cast(id as string)" }),');
  expect(await migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
  const metadata = async () =>
    (await (await (await lancedb.connect(data)).openTable("t")).schema()).fields.find(({ name }) => name === "u")!
      .metadata;
  expect([...(await metadata())]).toEqual([["owner", "search"]]);
  expect(await migrate(["down"])).toMatchObject({ code: 0 });
  expect(new Map(await metadata())).toEqual(uuid);
});
