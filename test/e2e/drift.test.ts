/** migrate verify on tables that something else has changed: since when, and the migration that adopts it. */
import { readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, onStderr } from "../support/project.ts";
import { addRows, columnsOf, lancedb } from "../support/tables.ts";
import { casesInTurn, rounds } from "../support/rounds.ts";
import { aKeptProject, described, type KeptProject } from "./support/kept.ts";

const inTurn = casesInTurn();

async function tableOf({ data }: KeptProject, name: string) {
  return await (await lancedb.connect(data)).openTable(name);
}

function stepsOf({ folder }: KeptProject, file: string): string {
  const text = readFileSync(join(folder, "migrations", file), "utf8");
  return text.slice(text.indexOf("export const up"));
}

function filesOf({ folder }: KeptProject): readonly string[] {
  return readdirSync(join(folder, "migrations"))
    .filter((file) => file !== "lock.json")
    .toSorted();
}

/** The time of a version as people are told it. */
async function timeOf(table: Awaited<ReturnType<typeof tableOf>>, version: number): Promise<string> {
  const found = (await table.listVersions()).find((one) => one.version === version)!;
  return found.timestamp
    .toISOString()
    .replace("T", " ")
    .replace(/\.\d+Z$/, "Z");
}

const ways = "; or run migrate verify --write, which writes a migration that leads there";

test.each(described.slice(0, rounds(1, 2)))(
  "names the version in which it came, among many that others write (%s)",
  async (kept) => {
    const project = await aKeptProject(kept);
    const people = await tableOf(project, "people");
    for (let id = 0; id < 5; id++) await addRows(project.data, "people", [{ id, full_name: "x" }]);
    await people.checkoutLatest();
    await people.addColumns([{ name: "age", valueSql: "id + 1" }]);
    const drifted = await people.version();
    for (let id = 0; id < 9; id++) await addRows(project.data, "people", [{ id, full_name: "x", age: 1 }]);
    expect(await project.run("verify")).toEqual({
      code: 4,
      stdout:
        "people: column age (int64) was not expected\n" +
        `people: since version ${drifted} of ${await timeOf(people, drifted)}\n` +
        `1 table of here is not as the ledger records; restore version ${drifted - 1} of people, if nothing that was written since is needed, or change it back by hand${ways}\n`,
      stderr: "",
    });
  },
);

test("an index that is gone is dated too, where old versions tell of theirs", async () => {
  const project = await aKeptProject("lance");
  project.migration("0005_index.ts", `m.createIndex("people", "id", m.btree())`);
  expect(await project.run("up")).toMatchObject({ code: 0 });
  const people = await tableOf(project, "people");
  await addRows(project.data, "people", [{ id: 1, full_name: "x" }]);
  await people.checkoutLatest();
  await people.dropIndex("id_idx");
  expect((await project.run("verify")).stdout).toMatch(
    new RegExp(`^people: index id_idx on id is missing: btree\npeople: since version ${await people.version()} of `),
  );
});

test.each(described.slice(0, rounds(1, 2)))(
  "what was changed is adopted, marked here and run elsewhere (%s)",
  async (kept) => {
    const ours = `m.createIndex("people", "full_name", m.btree(), { name: "by_name" }), m.setMetadata("places", "id", { unit: "s" })`;
    const project = await aKeptProject(kept);
    project.migration("0005_more.ts", ours);
    expect(await project.run("up")).toMatchObject({ code: 0 });
    const people = await tableOf(project, "people");
    await addRows(project.data, "people", [{ id: 1, full_name: "x" }]);
    await people.checkoutLatest();
    await people.addColumns([{ name: "age", valueSql: "id + 1" }]);
    // What others add of these is no drift, and stays theirs.
    await people.createIndex("id", { config: lancedb.Index.btree() });
    await people.createIndex("full_name", { config: lancedb.Index.bitmap(), name: "by_name" });
    const places = await tableOf(project, "places");
    await places.alterColumns([{ path: "label", rename: "caption" }]);
    await places.updateFieldMetadata([{ path: "id", metadata: { unit: "m", theirs: "x" } }]);

    expect(await project.run("verify", "--write")).toEqual({
      code: 4,
      stdout: expect.stringContaining("places: column label is missing\n"),
      stderr:
        "places.label is gone and places.caption new; answer with --rename places.label:caption, or --drop-column places.label\n",
    });
    expect(filesOf(project)).toHaveLength(5);
    const { code, stdout } = await project.run("verify", "by_hand", "--write", "--rename", "places.label:caption");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /\nwrote .*migrations\/0006_by_hand\.ts\n {2}add people\.age int64\n {2}create or replace index by_name on people\.full_name: bitmap\n {2}rename places\.label to caption\n {2}set unit of places\.id to "m"\nwrote .*migrations\/lock\.json\nnext: migrate baseline marks the migration as applied on here; migrate up runs it on any other database\n$/,
      ),
    });
    expect(stepsOf(project, "0006_by_hand.ts")).toBe(`export const up: readonly Step[] = [
  addColumn("people", "age", int64()),
  createIndex("people", "full_name", bitmap(), {
    name: "by_name",
    replace: true,
  }),
  renameColumn("places", "label", "caption"),
  setMetadata("places", "id", { unit: "m" }),
];
`);
    expect(await project.run("baseline")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^marked 0006_by_hand\n/),
    });
    expect(await project.run("verify")).toMatchObject({ code: 0 });
    expect(await project.run("up")).toMatchObject({ code: 0, stdout: "nothing to do\n" });
    expect(await project.run("verify", "--write")).toMatchObject({
      code: 0,
      stdout: "nothing to write: the tables of here are as the ledger records\n",
    });
    // Elsewhere.
    const other = await aKeptProject("lance");
    other.migration("0005_more.ts", ours);
    other.migration(
      "0006_by_hand.ts",
      stepsOf(project, "0006_by_hand.ts")
        .replace(/^[^[]*\[|\];\n$/g, "")
        .replaceAll(/(\w+\()/g, "m.$1"),
    );
    expect(await other.run("up")).toMatchObject({ code: 0 });
    for (const name of ["people", "places"])
      expect(await columnsOf(other.data, name)).toEqual(await columnsOf(project.data, name));
  },
);

test.each(inTurn(described))("tables that are gone, and that came back, are adopted as that (%s)", async (kept) => {
  const project = await aKeptProject(kept);
  project.migration("0005_less.ts", `m.dropTable("people")`);
  expect(await project.run("up", "--accept", "lossy,irreversible")).toMatchObject({ code: 0 });
  const db = await lancedb.connect(project.data);
  await db.createTable("people", [{ id: 1 }]);
  await db.dropTable("places");
  const { stdout } = await project.run("verify");
  expect(stdout).toMatch(
    /^places: it does not exist\npeople: it exists, but should not\npeople: since version 1 of [^\n]*Z\n2 tables/,
  );
  expect(await project.run("verify", "--write", "again", "--json", "--drop-table", "places")).toMatchObject({
    code: 0,
  });
  expect(stepsOf(project, "0006_again.ts")).toBe(
    `export const up: readonly Step[] = [\n  createTable("people", { id: float64() }),\n  dropTable("places"),\n];\n`,
  );
  expect(await project.run("baseline")).toMatchObject({ code: 0 });
  expect(await project.run("verify")).toMatchObject({ code: 0 });
});

test.each(described)(
  "a table that was renamed to a name of no migration is not adopted as dropped (%s)",
  async (kept) => {
    const project = await aKeptProject(kept);
    renameSync(join(project.data, "places.lance"), join(project.data, "sites.lance"));
    const before = filesOf(project);
    expect(await project.run("verify", "moved", "--write")).toMatchObject({
      code: 4,
      stderr: "places is gone and sites new; answer with --rename-table places:sites, or --drop-table places\n",
    });
    expect(filesOf(project)).toEqual(before);
    const renamed = await project.run("verify", "moved", "--write", "--rename-table", "places:sites");
    if (kept === "namespace") {
      expect(renamed).toMatchObject({ code: 0 });
      expect(stepsOf(project, "0005_moved.ts")).toBe(
        `export const up: readonly Step[] = [renameTable("places", "sites")];\n`,
      );
      expect(await project.run("baseline")).toMatchObject({ code: 0 });
      expect(await project.run("verify")).toMatchObject({ code: 0 });
    } else {
      expect(renamed).toMatchObject(onStderr(4, "can't rename a table"));
      expect(await project.run("verify", "moved", "--write", "--drop-table", "places")).toMatchObject({ code: 0 });
      expect(stepsOf(project, "0005_moved.ts")).toBe(`export const up: readonly Step[] = [dropTable("places")];\n`);
    }
  },
);

test.each(inTurn(described))(
  "of a column that was added not null the values for elsewhere are said (%s)",
  async (kept) => {
    const project = await aKeptProject(kept);
    const people = await tableOf(project, "people");
    await people.addColumns([{ name: "age", valueSql: "1" }]);
    await (await tableOf(project, "places")).addColumns([{ name: "note", valueSql: "cast(null as string)" }]);
    expect(await project.run("verify", "--write")).toEqual({
      code: 4,
      stdout: expect.stringContaining("people: column age (int64 not null) was not expected\n"),
      stderr:
        "no steps lead there: people.age is new and not null, and its values in existing rows are unknown: run the same command with --add-column 'people.age:int64 not null as SQL', with an expression such as 0 or upper(title) in place of SQL\n",
    });
    const said = ["--add-column", "people.age:int64 not null as id"];
    for (const [wrong, words] of [
      [["--add-column", "people.age:int32 not null as id"], "no table that is there is to get it as int32 not null"],
      [[...said, ...said], "the values of people.age are given twice"],
    ] as const)
      expect(await project.run("verify", "--write", ...wrong)).toMatchObject(onStderr(2, words));
    expect(await project.run("verify", "aged", "--write", ...said)).toMatchObject({ code: 0 });
    expect(stepsOf(project, "0005_aged.ts")).toBe(
      `export const up: readonly Step[] = [\n  addColumn("people", "age", int64().notNull(), { as: "id" }),\n  addColumn("places", "note", utf8()),\n];\n`,
    );
    expect(await project.run("baseline")).toMatchObject({ code: 0 });
    expect(await project.run("verify")).toMatchObject({ code: 0 });
    expect(await project.run("verify", "--write", ...said)).toMatchObject(
      onStderr(2, "--add-column people.age answers nothing"),
    );
  },
);

test("a column that was dropped and made again is the last one, and is said to be recreated", async () => {
  const project = await aKeptProject("lance");
  const people = await tableOf(project, "people");
  await people.dropColumns(["id"]);
  await people.addColumns([{ name: "id", valueSql: "cast(null as bigint)" }]);
  expect(await project.run("verify", "--write")).toMatchObject(
    onStderr(4, "(of one that was recreated say how with --retype 'TABLE.COLUMN:TYPE using SQL')"),
  );
  const said = ["--retype", "people.id:int64 using cast(length(full_name) as bigint)"];
  expect(await project.run("verify", "again", "--write", ...said)).toMatchObject({ code: 0 });
  expect(await project.run("baseline")).toMatchObject({ code: 0 });
  expect(await project.run("verify")).toMatchObject({ code: 0 });
});

test("nothing is written while something is pending, nor what no step leads to, nor where nobody can look", async () => {
  const pending = await aKeptProject("lance", 3);
  expect(await pending.run("verify", "--write")).toEqual({
    code: 4,
    stdout: "",
    stderr:
      "0004_wider is not applied on here, so drift can't be determined; run migrate up first, or migrate baseline if its tables are there; where up is refused for the drift, put its file aside until this one is written\n",
  });
  const project = await aKeptProject("lance");
  const db = await lancedb.connect(project.data);
  await db.dropTable("people");
  await db.createTable("people", [{ full_name: "x", id: 1n }]);
  expect(await project.run("verify", "--write")).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(
      /^no migration can declare this: table people: the columns are in another order: full_name, id instead of id, full_name \(of one that was recreated say how with --retype 'TABLE\.COLUMN:TYPE using SQL'\); fix that by hand\n$/,
    ),
  });
  const blind = await aKeptProject("service");
  expect(await blind.run("verify", "--write")).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/^nothing is written: here can't describe its tables; /),
  });
  for (const one of [pending, project, blind]) expect(filesOf(one)).toHaveLength(4);
});

test("flags that belong to --write are refused without it, and beside --ledger", async () => {
  const project = await aKeptProject("lance");
  for (const args of [["name"], ["--rename", "people.id:no"], ["--ledger", "--write"]])
    expect(await project.run("verify", ...args)).toMatchObject({ code: 2, stdout: "" });
});

test("verify names the way to adopt a change by hand, also while migrations are pending", async () => {
  const project = aProject();
  project.migration("0001_first.ts", `m.createTable("d", { id: m.int32() }),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await (await (await lancedb.connect(project.database)).openTable("d")).addColumns([{ name: "n", valueSql: "1" }]);
  const way = "run migrate verify --write, which writes a migration that leads there";
  expect((await project.migrate(["verify"])).stdout).toContain(`or change it back by hand; or ${way}\n`);
  project.migration("0002_more.ts", `m.addColumn("d", "more", m.utf8()),`);
  expect((await project.migrate(["verify"])).stdout).toContain(
    `or change it back by hand; or move the files of pending migrations out of the folder and ${way}; then give the pending ones higher numbers\n`,
  );
});

test("of a table that is gone, verify states what a migration for that would do to other databases", async () => {
  const project = aProject();
  const tables = ["d", "e"].map((name) => `m.createTable("${name}", { id: m.int32() })`);
  project.migration("0001_first.ts", tables.join(", "));
  // Otherwise the tables are as they were in the middle of the first one, which repair finds.
  project.migration("0002_more.ts", `m.addColumn("d", "more", m.utf8()),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await (await lancedb.connect(project.database)).dropTable("e");
  expect((await project.migrate(["verify"])).stdout).toContain(
    "bring table e back from a backup; or run migrate verify --write, which writes a migration that drops e in every other database too\n",
  );
});
