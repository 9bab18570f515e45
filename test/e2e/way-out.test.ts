/** Messages that lead to the next command, as far as following them shows that they do. */
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, type Project } from "../support/project.ts";
import { addRows, lancedb } from "../support/tables.ts";

/** A table with rows, of which two hold no number. */
async function withDocuments(): Promise<Project> {
  const project = aProject();
  project.migration("0001_documents.ts", `m.createTable("documents", { id: m.int32(), year: m.utf8() })`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "documents", [
    { id: 1, year: "1990" },
    { id: 2, year: "n/a" },
    { id: 3, year: "19,5" },
    { id: 4, year: null },
  ]);
  return project;
}

const open = async ({ database }: Project) => await (await lancedb.connect(database)).openTable("documents");

test.each([
  ["failed", `m.addColumn("documents", "pages", m.int32()), `],
  ["would fail", ""],
])("the filter in the message of a cast that %s finds all rows", async (verb, first) => {
  const project = await withDocuments();
  const retype = `m.retypeColumn("documents", "year", m.int32(), { using: "cast(year as int)" })`;
  project.migration("0002_years.ts", `${first}${retype}`);
  const { stderr } = await project.migrate(["up"]);
  expect(stderr).toContain(`(retypeColumn) ${verb}: `);
  const filter = /\(this filter finds all such rows: (.*?)\)(?:;|$)/m.exec(stderr)?.[1];
  const rows = await (await open(project)).query().where(filter!).select(["id"]).toArray();
  expect(rows.map(({ id }) => id).toSorted()).toEqual([2, 3]);
});

test("repair says what it means that a table is gone, and verify that a backup has its rows", async () => {
  const project = await withDocuments();
  project.migration("0002_pages.ts", `m.addColumn("documents", "pages", m.int32())`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await (await lancedb.connect(project.database)).dropTable("documents");
  const { stdout } = await project.migrate(["verify"]);
  expect(stdout).toMatch(/; bring table documents back from a backup; without one, see migrate repair$/m);
  const repair = await project.migrate(["repair"]);
  expect(repair.stdout).toContain(
    "it then records 2 migrations as never applied, because table documents is gone, and the next migrate up creates it EMPTY: to have its rows, bring it back from a backup instead",
  );
  expect(await project.migrate(["repair", "--yes"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await (await open(project)).countRows()).toBe(0);
});

/** Two tables, which migrations change in turn and together. */
async function withTwoTables(): Promise<Project> {
  const project = await withDocuments();
  project.migration("0002_notes.ts", `m.createTable("notes", { id: m.int32(), text: m.utf8() })`);
  project.migration(
    "0003_lang.ts",
    `m.addColumn("documents", "lang", m.utf8()), m.addColumn("notes", "lang", m.utf8())`,
  );
  const empty = `empty: { kind: "lance", uri: "empty" }`;
  project.write(
    "migrate.config.ts",
    `export default { target: "here", targets: { here: { kind: "lance", uri: ".lancedb" }, ${empty} } };\n`,
  );
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  return project;
}

async function expectWell({ migrate }: Project): Promise<void> {
  for (const args of [["repair"], ["verify"], ["status", "--check"], ["up"]])
    expect(await migrate(args)).toMatchObject({ code: 0 });
}

test("one of several tables that was dropped by hand comes back as the message of repair says", async () => {
  const project = await withTwoTables();
  await (await lancedb.connect(project.database)).dropTable("documents");
  expect(await project.migrate(["repair"])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(
      "bring table documents back from a backup; without one, let migrate up create it EMPTY in another, empty database, and copy its folder from there, then run migrate repair again",
    ),
  });
  expect(await project.migrate(["up", "--target", "empty"])).toMatchObject({ code: 0 });
  cpSync(join(project.folder, "empty/documents.lance"), join(project.database, "documents.lance"), { recursive: true });
  await expectWell(project);
});

test("one of several tables that was restored goes back as the message of repair says", async () => {
  const project = await withTwoTables();
  const documents = await open(project);
  const newest = await documents.version();
  await documents.checkout(1);
  await documents.restore();
  expect(await project.migrate(["repair"])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(
      "table documents is as it was after 0002_notes: if it was restored, restore the version that migrate verify names, or all tables to the same time; otherwise fix that by hand, then",
    ),
  });
  expect((await project.migrate(["verify"])).stdout).toContain(`documents: since version ${newest + 1} of `);
  await documents.checkout(newest);
  await documents.restore();
  await expectWell(project);
});

test("one of several tables that was restored goes back as the message of repair says, although the ledger is lost", async () => {
  const project = await withTwoTables();
  const documents = await open(project);
  const newest = await documents.version();
  await documents.checkout(1);
  await documents.restore();
  rmSync(join(project.database, "_migrations.lance"), { recursive: true });
  expect(await project.migrate(["repair"])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(
      `if it was restored, restore version ${newest} of documents, if nothing that was written since is needed; otherwise fix that by hand, then`,
    ),
  });
  await documents.checkout(newest);
  await documents.restore();
  expect(await project.migrate(["repair", "--yes"])).toMatchObject({ code: 0 });
  await expectWell(project);
});

test("a column that was added by hand and holds no null is adopted as the message says", async () => {
  const project = await withDocuments();
  await (await open(project)).addColumns([{ name: "pages", valueSql: "cast(1 as int)" }]);
  const refused = await project.migrate(["verify", "--write"]);
  const [, notation] = /run the same command with --add-column '(.*) as SQL', with an expression/.exec(refused.stderr)!;
  const written = await project.migrate(["verify", "--write", "--add-column", `${notation} as 0`]);
  expect(written).toMatchObject({ code: 0 });
  expect(await project.migrate(["baseline"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
});
