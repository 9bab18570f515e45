/** Which steps work with JSON and blob columns. What the engine can't do with them is refused before anything changes. */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ofThisCommit } from "../support/rounds.ts";
import { lancedb } from "../support/tables.ts";
import { aProjectOn, key, type Way } from "./support/project-on.ts";
import { onStderr, onStdout } from "../support/project.ts";

// The engine's client knows the fields of its own copy only.
const arrow = createRequire(import.meta.url)("apache-arrow") as typeof import("apache-arrow");

const columns = `{ id: m.int32(), j: m.json(), b: m.blob(), q: m.utf8(), s: m.struct({ k: m.int32(), in: m.json(), raw: m.blob() }) }`;
const raw = { data: Buffer.from("raw"), uri: null, position: null, size: null };
const rows = [
  { id: 1, j: '{"a":1}', b: Buffer.from("one"), q: '{"b": 2}', s: { k: 1, in: "[1]", raw } },
  { id: 2, j: "[2]", b: Buffer.from("two"), q: "3", s: { k: 2, in: "2", raw } },
];

async function aScene(way: Way) {
  const project = await aProjectOn(way);
  project.migration("0001_t.ts", `m.createTable("t", ${columns}),`);
  expect(await project.migrate(["up"], key)).toMatchObject({ code: 0 });
  const table = async () => await (await lancedb.connect(project.data)).openTable("t");
  await (await table()).add(rows);
  return { ...project, table };
}

type Scene = Awaited<ReturnType<typeof aScene>>;

async function bytesOf(table: Awaited<ReturnType<Scene["table"]>>, column: string): Promise<readonly unknown[]> {
  const found = await table.query().select(["id"]).withRowId().toArray();
  const ids = found.toSorted((one, other) => Number(one.id) - Number(other.id)).map((row) => row._rowid as bigint);
  return (await table.fetchBlobs(column, ids)).map((one) => one && String(one));
}

/** What earlier releases wrote instead. */
const blobStruct = "m.struct({ data: m.largeBinary(), uri: m.utf8(), position: m.uint64(), size: m.uint64() })";
const storedColumns = columns.replaceAll("m.json()", "m.largeBinary()").replaceAll("m.blob()", blobStruct);

const works: readonly (readonly [steps: string, blob?: string])[] = [
  ['m.renameColumn("t", "j", "d"), m.renameColumn("t", "b", "c")', "c"],
  ['m.renameColumn("t", "s.in", "out"), m.renameColumn("t", "s.raw", "rare")'],
  ['m.setNullable("t", "j", false), m.setNullable("t", "b", false), m.setNullable("t", "b", true)'],
  ['m.dropColumn("t", "j"), m.dropColumn("t", "s.raw")'],
  ['m.retypeColumn("t", "id", m.int64())'],
  [`m.execute("t", { update: { j: "q" } })`],
  [`m.execute("t", { update: { q: "json_extract(j, '$')" }, where: "b is not null" })`],
  [`m.addColumn("t", "text", m.utf8(), { as: "json_extract(j, '$')" })`],
  [`m.execute("t", { update: { q: "json_get_string(json_get(j, 'a'), 'b')" } })`],
  [`m.execute("t", { delete: "b is null" })`],
];

/** Of each kind of call that a service gets, one. */
const served = [0, 3, 5, 9].map((at) => works[at]!);
/** Each begins where the one before it was rolled back: for each commit half of them. */
const someOf = (steps: typeof works) => ofThisCommit(steps, 2);

test.each([
  ["lance", someOf(works)],
  ["namespace", someOf(served)],
] as const)(
  "on %s, a table with JSON and blobs is whole after each step that works, and when it is rolled back",
  async (way, steps) => {
    const { migrate, migration, table } = await aScene(way);
    for (const [step, blob = "b"] of steps) {
      migration("0002_next.ts", `${step},`);
      expect(await migrate(["up", "--accept", "lossy"], key), step).toMatchObject({ code: 0 });
      expect(await bytesOf(await table(), blob), step).toEqual(["one", "two"]);
      const [first] = await (await table()).query().where("id = 1").toArray();
      const text = first.j ?? first.d ?? first.text;
      if (text !== undefined) expect(JSON.parse(text), step).toEqual(step.includes("{ j:") ? { b: 2 } : { a: 1 });
      expect(await migrate(["verify"], key), step).toMatchObject({ code: 0 });
      expect(await migrate(["down", "--accept", "lossy"], key), step).toMatchObject({ code: 0 });
      expect(await bytesOf(await table(), "b"), step).toEqual(["one", "two"]);
    }
    await (await table()).add(rows);
    expect(await (await table()).countRows()).toBe(4);
  },
);

const adds = `m.addColumn("t", "j2", m.json()), m.addColumn("t", "b2", m.blob()), m.addColumn("t", "n", m.int32()),
  m.addColumn("t", "s2", m.struct({ in: m.json(), raw: m.blob() }))`;

test("JSON and blob columns are added to a table of a folder", async () => {
  const { migrate, migration, table } = await aScene("lance");
  migration("0002_next.ts", `${adds},`);
  expect(await migrate(["up"])).toMatchObject({ code: 0 });
  await (await table()).add([{ ...rows[0]!, id: 3, j2: "[3]", b2: Buffer.from("three"), n: 3, s2: { in: "4", raw } }]);
  expect(await bytesOf(await table(), "b2")).toEqual([null, null, "three"]);
  expect(await bytesOf(await table(), "s2.raw")).toEqual([null, null, "raw"]);
  const found = await (await table()).query().where("id = 3").toArray();
  expect(found.map(({ j2, s2 }) => [j2, s2.in])).toEqual([["[3]", "4"]]);
  expect(await migrate(["verify"])).toMatchObject({ code: 0 });
  expect(await migrate(["down", "--accept", "lossy"])).toMatchObject({ code: 0 });
});

test.each(["2.0", "2.1"])("a table in file format %s gets no blob, unless it is created with one", async (format) => {
  const { data, migrate, migration, write } = await aProjectOn("lance");
  write(
    "migrate.config.ts",
    `export default { targets: { local: { kind: "lance", uri: ".lancedb", newTables: { dataStorageVersion: "${format}" } } } };\n`,
  );
  const plain = 'm.createTable("plain", { id: m.int32() })';
  migration(
    "0001_t.ts",
    `m.createTable("t", { id: m.int32(), b: m.blob() }), m.addColumn("t", "c", m.blob()), ${plain},`,
  );
  expect(await migrate(["up"])).toMatchObject({ code: 0 });
  await (await (await lancedb.connect(data)).openTable("t")).add([{ id: 1, b: Buffer.from("b"), c: Buffer.from("c") }]);
  migration("0002_json.ts", 'm.addColumn("plain", "j", m.json()), m.addColumn("t", "d", m.blob()),');
  expect(await migrate(["up"])).toMatchObject({ code: 0 });
  migration("0003_blob.ts", 'm.addColumn("plain", "b", m.blob()),');
  const problem = `b can't be added, because the table is written in file format ${format}, which has no blobs`;
  for (const command of ["plan", "up"]) expect(await migrate([command])).toMatchObject(onStderr(4, problem));
});

test("a service adds no JSON column, and plan says so", async () => {
  const { migrate, migration } = await aScene("namespace");
  migration("0002_next.ts", `m.addColumn("t", "j2", m.json()),`);
  const words = "services add columns by SQL expressions, which can't create a json column; create the table with it";
  for (const command of ["plan", "up"]) expect(await migrate([command], key)).toMatchObject(onStderr(4, words));
});

test("code computes JSON as text", async () => {
  const { migrate, migration, table, write } = await aScene("lance");
  write("code.mjs", "export default (rows) => rows.map(({ q }) => JSON.stringify({ was: q }));\n");
  const backfill = JSON.stringify({ from: ["q"], key: "id", with: "./code.mjs", version: "1" });
  await (await table()).update({ values: { j: null } });
  migration("0002_next.ts", `m.backfillColumn("t", "j", ${backfill}),`);
  expect(await migrate(["up"], key)).toMatchObject({ code: 0 });
  expect(await (await table()).countRows("json_get_string(j, 'was') = q")).toBe(2);
  expect(await bytesOf(await table(), "b")).toEqual(["one", "two"]);
});

const jsonWay = "add a column of type json, and set it to JSON text with execute";
const blobWay = "add a column of this type without values, and write them from your application";
const jsonText = "use json_extract(j, '$') for its text";
const noBytes = "SQL can't read the bytes of a blob; compute the values in your application";

const refused = [
  ['m.retypeColumn("t", "j", m.utf8())', "using"],
  ['m.retypeColumn("t", "j", m.binary())', "using"],
  ['m.retypeColumn("t", "q", m.json())', jsonWay],
  ['m.retypeColumn("t", "q", m.blob())', blobWay],
  ['m.retypeColumn("t", "q", m.json(), { using: "q" })', jsonWay],
  ['m.retypeColumn("t", "q", m.blob(), { using: "q" })', blobWay],
  ['m.retypeColumn("t", "j", m.utf8(), { using: "j" })', jsonText],
  [`m.retypeColumn("t", "j", m.utf8(), { using: "arrow_cast(j, 'Utf8')" })`, jsonText],
  ['m.retypeColumn("t", "b", m.binary(), { using: "b" })', noBytes],
  ['m.retypeColumn("t", "s.k", m.int64())', "can't be cast at all"],
  ['m.addColumn("t", "d", m.json(), { as: "q" })', jsonWay],
  ['m.addColumn("t", "d", m.json().notNull())', "add it as nullable, and make it not null once every row has a value"],
  ['m.addColumn("t", "d", m.utf8(), { as: "cast(j as string)" })', jsonText],
  [`m.addColumn("t", "d", m.utf8(), { as: "json_get(j, 'a')" })`, jsonText],
  [`m.execute("t", { update: { q: "cast(json_get(json_get(j, 'a'), 'b') as string)" } })`, jsonText],
  ['m.addColumn("t", "d", m.int64(), { as: "b.size" })', noBytes],
  ['m.addColumn("t", "d", m.utf8(), { as: "cast(s.in as string)" })', "use json_extract(s.in, '$') for its text"],
  ['m.addColumn("t", "d", m.struct({ k: m.int32() }), { as: "s" })', "use json_extract(s.in, '$') for its text"],
  ['m.addColumn("t", "s.more", m.json())', "s can only be created with its table"],
  [`m.execute("t", { update: { q: "j" } })`, jsonText],
  [`m.execute("t", { update: { q: "cast(b.size as string)" } })`, noBytes],
  [`m.execute("t", { update: { b: "null" } })`, blobWay],
  [`m.execute("t", { update: { s: "null" } })`, blobWay],
  ['m.createIndex("t", "j", m.fts())', "text"],
  ['m.createIndex("t", "b", m.btree())', "numbers"],
  [`m.setMetadata("t", "j", { "ARROW:extension:name": "x" }, { replace: true })`, "j is json: the engine reads"],
  [`m.setMetadata("t", "s.raw", { "ARROW:extension:name": null })`, "s.raw is blob: the engine reads"],
  [
    `m.backfillColumn("t", "q", { from: ["j"], key: "id", with: "./x.ts", version: "1" })`,
    "values can be computed from texts, numbers, bools, dates and times",
  ],
  [`m.backfillColumn("t", "b", { from: ["q"], key: "id", with: "./x.ts", version: "1" })`, "can't be given as JSON"],
  [`m.insertRows("t", [{ id: 3, j: "{" }], { key: "id" })`, "j must be JSON text"],
  [`m.insertRows("t", [{ id: 3, j: "1e400" }], { key: "id" })`, "j must be JSON text"],
  [`m.insertRows("t", [{ id: 3, b: "x" }], { key: "id" })`, "write it from your application"],
  [`m.createTable("u", { v: m.vector(2, m.json()) })`, "must be a type of fixed width"],
] as const;

test("what the engine can't do is refused, and changes nothing", async () => {
  const { migrate, migration, table } = await aScene("lance");
  const before = await (await table()).version();
  for (const [step, words] of refused) {
    migration("0002_next.ts", `${step},`);
    expect(await migrate(["plan", "--accept", "lossy"]), step).toMatchObject({
      code: expect.toBeOneOf([2, 4]),
      stderr: expect.stringContaining(words),
    });
  }
  // One that a declaration shows, and one that only the engine does.
  for (const [step, words] of [refused[0], refused[6]]) {
    migration("0002_next.ts", `${step},`);
    expect(await migrate(["up", "--accept", "lossy"]), step).toMatchObject({ stderr: expect.stringContaining(words) });
  }
  expect(await (await table()).version()).toBe(before);
});

test("a history that declares the stored types, as earlier releases wrote it, fits, and can be changed to the types", async () => {
  const { data, migrate, migration } = await aScene("namespace");
  for (const declared of [storedColumns, columns]) {
    migration("0001_t.ts", `m.createTable("t", ${declared}),`);
    expect(await migrate(["resolve", "--adopted", "1", "--yes"], key)).toMatchObject({ code: 0 });
    for (const command of ["verify", "up"]) expect(await migrate([command], key), command).toMatchObject({ code: 0 });
  }
  // The other way round, the application's rows are refused: that is drift.
  const db = await lancedb.connect(data);
  await db.dropTable("t");
  const [id, j] = [new arrow.Field("id", new arrow.Int32()), new arrow.Field("j", new arrow.LargeBinary())];
  await db.createEmptyTable("t", new arrow.Schema([id, j]));
  const drift = "column j is largeBinary instead of json";
  expect(await migrate(["verify"], key)).toMatchObject(onStdout(4, drift));
});

test("what others change beside a column that is declared as it is stored is adopted alone", async () => {
  const { folder, migrate, migration, table } = await aScene("lance");
  migration("0001_t.ts", `m.createTable("t", ${storedColumns}),`);
  expect(await migrate(["resolve", "--adopted", "1", "--yes"])).toMatchObject({ code: 0 });
  await (await table()).addColumns([{ name: "theirs", valueSql: "id" }]);
  expect(await migrate(["verify", "--write"])).toMatchObject({ code: 0 });
  const [, written] = readdirSync(join(folder, "migrations")).filter((name) => /^\d/.test(name));
  const source = readFileSync(join(folder, "migrations", written!), "utf8");
  expect(source.match(/\w+\(.*/g)).toEqual([`addColumn("t", "theirs", int32())];`]);
});
