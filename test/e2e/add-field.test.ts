/** A field that is added to a struct: it can be read and filtered afterwards, and is dropped on the way back. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { aProject, type Project, onStderr } from "../support/project.ts";
import { addRows, belongingsOf, columnsOf, lancedb, rowsOf, versionsOf } from "../support/tables.ts";
import { arrow } from "../service/served.ts";
import { aProjectOn, key } from "./support/project-on.ts";

const place = `m.struct({ town: m.utf8(), at: m.struct({ lat: m.float64() }) })`;
const creation = `m.createTable("t", { id: m.int32().notNull(), s: ${place}, note: m.utf8() }),`;
const wide = ["id: int32 not null", "s: struct<town: utf8, at: struct<lat: float64>, code: int32>", "note: utf8"];
const rows = [
  { id: 1, s: { town: "Ulm", at: { lat: 48.4 } }, note: "a" },
  { id: 2, s: null, note: null },
  { id: 3, s: { town: null, at: null }, note: "c" },
];
const filled = rows.map((row) => ({ ...row, s: row.s && { ...row.s, code: null } }));

const config = (newTables: string) =>
  `export default { targets: { here: { kind: "lance", uri: ".lancedb", newTables: ${newTables} } } };\n`;

/** With its rows in two fragments. */
async function aTable(newTables = "{}"): Promise<Project> {
  const project = aProject();
  project.write("migrate.config.ts", config(newTables));
  project.migration("0001_create.ts", creation);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "t", rows.slice(0, 2));
  await addRows(project.database, "t", rows.slice(2));
  return project;
}

async function open({ database }: Project) {
  return await (await lancedb.connect(database)).openTable("t");
}

const adding = `m.addColumn("t", "s.code", m.int32()),`;

test.each(["{}", "{ stableRowIds: true }"])(
  "a new field is null in all rows, a struct that was null stays null, and the field can be filtered and selected alone, %s",
  async (newTables) => {
    const project = await aTable(newTables);
    project.migration("0002_field.ts", adding);
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    expect(await columnsOf(project.database, "t")).toEqual(wide);
    expect(await rowsOf(project.database, "t")).toEqual(filled);
    const t = await open(project);
    expect(await t.countRows("s.code is null")).toBe(3);
    expect(await t.countRows("s is null")).toBe(1);
    await t.add([{ id: 4, s: { town: "Bonn", at: null, code: 7 }, note: "d" }]);
    expect(await t.query().where("s.code = 7").select({ code: "s.code" }).toArray()).toMatchObject([{ code: 7 }]);
    await t.delete("s.code = 7");
    await t.createIndex("s.code");
    expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
  },
);

test("indexes and metadata of the struct and of its fields stay, and so do those of other columns", async () => {
  const project = await aTable();
  const t = await open(project);
  for (const path of ["s.town", "id"]) await t.createIndex(path);
  await t.updateFieldMetadata([
    { path: "s", metadata: { source: "form" } },
    { path: "s.at.lat", metadata: { unit: "degree" } },
  ]);
  const before = await belongingsOf(project.database, "t");
  project.migration("0002_field.ts", `m.addColumn("t", "s.at.lon", m.float64()),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await belongingsOf(project.database, "t")).toEqual(before);
  expect(await (await open(project)).countRows("s.at.lon is null")).toBe(3);
});

test("a struct that is not null gets a field between two steps that let it hold nulls and refuse them", async () => {
  const project = aProject();
  project.migration("0001_create.ts", creation.replace(place, `${place}.notNull()`));
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "t", [rows[0]!]);
  project.migration("0002_field.ts", adding);
  expect(await project.migrate(["plan"])).toMatchObject(onStderr(4, "setNullable"));
  const setNullable = (to: boolean) => `m.setNullable("t", "s", ${to}),`;
  project.migration("0002_field.ts", `${setNullable(true)} ${adding} ${setNullable(false)}`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await rowsOf(project.database, "t")).toEqual([filled[0]]);
});

describe("on the way back", () => {
  test("it is dropped, and the rows are as they were", async () => {
    const project = await aTable();
    project.migration("0002_field.ts", adding);
    expect(await project.migrate(["rehearse"])).toMatchObject({ code: 0 });
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
    expect(await rowsOf(project.database, "t")).toEqual(rows);
    expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
  });

  test("values that were written into it are asked about", async () => {
    const project = await aTable();
    project.migration("0002_field.ts", adding);
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    await addRows(project.database, "t", [{ id: 4, s: { town: "Bonn", at: null, code: 7 }, note: "d" }]);
    expect(await project.migrate(["down"])).toMatchObject(onStderr(4, "t.s.code"));
    expect(await project.migrate(["down", "--accept", "lossy"])).toMatchObject({ code: 0 });
    expect(await rowsOf(project.database, "t")).toHaveLength(4);
  });
});

test("rows without the field, which the engine can't filter by it alone, stop no later migration", async () => {
  const project = await aTable();
  project.migration("0002_field.ts", adding);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "t", [{ id: 4, s: { town: "Bonn", at: null }, note: "d" }]);
  const t = await open(project);
  await expect(t.countRows("s.code is null")).rejects.toThrow("projection");
  expect(await t.countRows("s.code is null and (s is null or s is not null)")).toBe(4);
  project.migration("0003_strict.ts", `m.setNullable("t", "s.code", false),`);
  expect(await project.migrate(["plan"])).toMatchObject(onStderr(4, "t.s.code is null in 4 rows now"));
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await rowsOf(project.database, "t")).toEqual([...rows, { id: 4, s: { town: "Bonn", at: null }, note: "d" }]);
});

describe("is refused before anything is written", () => {
  test("in a file format in which structs get no fields, with a way out that works", async () => {
    const project = await aTable(`{ dataStorageVersion: "2.1" }`);
    project.migration("0002_field.ts", adding);
    const before = await versionsOf(project.database);
    const problem = "s.code can't be added, because the table is written in file format 2.1";
    expect(await project.migrate(["plan"])).toMatchObject(onStderr(4, problem));
    const refused = await project.migrate(["up"]);
    expect(refused).toMatchObject(onStderr(4, `{ using: "s" }`));
    expect(await versionsOf(project.database)).toEqual(before);
    const type = place.replace(/}\)$/, ", code: m.int32() })");
    project.migration("0002_field.ts", `m.retypeColumn("t", "s", ${type}, { using: "s" }),`);
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    expect(await rowsOf(project.database, "t")).toMatchObject(filled);
  });

  test.each(["namespace", "service"] as const)("on a service of the dialect %s", async (way) => {
    const project = await aProjectOn(way);
    project.migration("0001_create.ts", creation);
    expect(await project.migrate(["up"], key)).toMatchObject({ code: 0 });
    project.migration("0002_field.ts", adding);
    expect(await project.migrate(["plan"], key)).toMatchObject(
      onStderr(4, "services add columns by SQL expressions, which add no field to a struct"),
    );
  });
});

test("new, generate and verify --write write the step, and types knows the field", async () => {
  const project = await aTable();
  const last = (folder: string) => {
    const files = readdirSync(join(folder, "migrations")).filter((name) => /^\d/.test(name));
    return readFileSync(join(folder, "migrations", files.toSorted().at(-1)!), "utf8");
  };
  expect(await project.migrate(["new", "code", "--add-column", "t.s.code:int32"])).toMatchObject({ code: 0 });
  expect(last(project.folder)).toContain(`addColumn("t", "s.code", int32())`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });

  const declared = creation.slice(creation.indexOf("{"), creation.lastIndexOf(")"));
  const type = place.replace(/ }\) }\)$/, ", lon: m.float64() }), code: m.int32() })");
  project.write(
    "schema.ts",
    `import * as m from "lance-migrate";\nexport default m.defineSchema({ t: ${declared.replace(place, type)} });\n`,
  );
  expect(await project.migrate(["generate"])).toMatchObject({ code: 0 });
  expect(last(project.folder)).toContain(`addColumn("t", "s.at.lon", float64())`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["generate", "--check"])).toMatchObject({ code: 0 });

  const zip = new arrow.Struct([new arrow.Field("zip", new arrow.Int8(), true)]);
  await (await open(project)).addColumns(new arrow.Field("s", zip, true));
  expect(await project.migrate(["verify"])).toMatchObject({ code: 4 });
  expect(await project.migrate(["verify", "--write"])).toMatchObject({ code: 0 });
  expect(last(project.folder)).toContain(`addColumn("t", "s.zip", int8())`);
  expect(await project.migrate(["baseline"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["types", "--out", "db.ts"])).toMatchObject({ code: 0 });
  expect(readFileSync(join(project.folder, "migrations/history.d.ts"), "utf8")).toContain("zip");
});
