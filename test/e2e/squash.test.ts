/** A history that is put together in one migration: databases that have it know it again, and new ones come out the same. */
import { connect } from "@lancedb/lancedb";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject } from "../support/project.ts";
import { columnsOf } from "../support/tables.ts";

const history = {
  "0001_start.ts": [
    `m.createTable("documents", { id: m.int32().notNull(), title: m.utf8(), v: m.vector(4) })`,
    `m.createTable("notes", { id: m.int32() })`,
    `m.createTable("languages", { code: m.utf8().notNull(), name: m.utf8() }, { rows: [{ code: "en", name: "English" }] })`,
  ],
  "0002_change.ts": [
    `m.renameColumn("documents", "title", "headline")`,
    `m.retypeColumn("documents", "id", m.int64())`,
    `m.dropTable("notes")`,
    `m.createTable("notes", { body: m.utf8() })`,
  ],
  "0003_more.ts": [
    `m.createIndex("documents", "id", m.btree())`,
    `m.setMetadata("documents", "v", { model: "e5" })`,
    `m.setMetadata("documents", "id", { "lance-schema:unenforced-primary-key": "true" })`,
    `m.addColumn("documents", "tags", m.list(m.utf8()))`,
    `m.addColumn("documents", "words", m.int32(), { as: "length(headline)" })`,
    `m.insertRows("languages", [{ code: "de", name: "Deutsch" }], { key: "code" })`,
    `m.renameColumn("languages", "name", "label")`,
    `m.execute("documents", { delete: "headline is null" })`,
  ],
};

function aHistory() {
  const project = aProject();
  const target = (name: string) => `${name}: { kind: "lance", uri: "${name}" }`;
  project.write(
    "migrate.config.ts",
    `export default { target: "old", targets: { ${["old", "new", "part"].map(target).join(", ")} } };\n`,
  );
  for (const [file, steps] of Object.entries(history)) project.migration(file, steps.join(",\n"));
  const run = async (...args: string[]) => await project.migrate(args);
  const files = () => readdirSync(join(project.folder, "migrations")).toSorted();
  return { ...project, run, files };
}

async function tables(folder: string) {
  const db = await connect(folder);
  const names = (await db.tableNames()).filter((name) => !name.startsWith("_migrations"));
  const all = names.map(async (name) => {
    const table = await db.openTable(name);
    const rows = (await table.query().toArray()).map((row) => JSON.stringify(row)).toSorted();
    return [name, await columnsOf(folder, name), (await table.listIndices()).map((one) => one.name), rows] as const;
  });
  return await Promise.all(all);
}

test("old databases know it again, new ones come out the same, and both go on", { timeout: 60_000 }, async () => {
  const { run, files, migration, folder } = aHistory();
  expect(await run("up", "--accept", "irreversible")).toMatchObject({ code: 0 });
  expect(await run("squash", "--to", "3", "--dry-run")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(
      "3 migrations with 15 steps would be one with 8 steps\non the engine both make the same: 3 tables",
    ),
  });
  expect(files()).toHaveLength(3);
  const squashed = await run("squash", "start", "--to", "3");
  expect(squashed).toMatchObject({ code: 0, stderr: "" });
  expect(squashed.stdout).toBe(
    "wrote migrations/0003_start.ts: 3 migrations with 15 steps are one with 8 steps\n" +
      "on the engine both make the same: 3 tables\n" +
      "note: the steps of languages stay as they were, as they bring rows\n",
  );
  expect(files()).toEqual(["0003_start.ts", "lock.json"]);
  expect(readFileSync(join(folder, "migrations/0003_start.ts"), "utf8")).toMatch(
    /export const replaces = \[\n {2}"0001_start [0-9a-f]{16}",\n {2}"0002_change [0-9a-f]{16}",\n {2}"0003_more [0-9a-f]{16}",\n\];/,
  );
  expect(await run("lint")).toMatchObject({ code: 0 });
  migration("0004_last.ts", `m.addColumn("notes", "at", m.int64())`);
  for (const database of ["old", "new"]) {
    expect(await run("up", "--target", database, "--accept", "irreversible"), database).toMatchObject({ code: 0 });
    expect(await run("up", "--target", database)).toMatchObject({ stdout: expect.stringContaining("nothing to do") });
    for (const command of [["verify"], ["verify", "--ledger"], ["repair"]])
      expect(await run(...command, "--target", database)).toMatchObject({ code: 0 });
  }
  expect(await tables(join(folder, "new"))).toEqual(await tables(join(folder, "old")));
  expect(await run("down")).toMatchObject({ code: 0 });
});

test("what says what it comes after goes on saying so, and TypeScript knows the tables after it", async () => {
  const { run, files, folder } = aHistory();
  expect(await run("types")).toMatchObject({ code: 0 });
  expect(await run("squash", "start", "--to", "3")).toMatchObject({ code: 0 });
  expect(files()).toEqual(["0003_start.ts", "history.d.ts", "lock.json"]);
  expect(readFileSync(join(folder, "migrations/0003_start.ts"), "utf8")).toContain(
    `export const up: readonly Step[] = after(\n  "0000",\n`,
  );
  expect(await run("types", "--check")).toMatchObject({ code: 0 });
  expect(await run("new", "last", "--add-column", "notes.at:int64")).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, "migrations/0004_last.ts"), "utf8")).toMatch(/after\(\s*"0003",\s*addColumn\(/);
  expect(await run("lint")).toMatchObject({ code: 0 });
});

test("a database with a part of it is told to get the rest first", async () => {
  const { run } = aHistory();
  expect(await run("up", "--target", "part", "--to", "2", "--accept", "irreversible")).toMatchObject({ code: 0 });
  expect(await run("squash", "--to", "3")).toMatchObject({ code: 0 });
  expect(await run("up", "--target", "part")).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(
      "0002_change is applied here, and 0003_more is not; deploy the release before it first",
    ),
  });
});

test("what ran under another number somewhere, also behind them, keeps them apart", async () => {
  const { run, files, write } = aHistory();
  write(
    "migrations/0004_later.ts",
    `import { dropTable } from "lance-migrate";\nexport const up = [dropTable("notes")];\nexport const was = ["0002_later 0123456789abcdef"];\n`,
  );
  const before = files();
  expect(await run("squash", "--to", "3")).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(
      "0004_later.ts was renumbered (it exports was), and where it ran under its old number, it ran among these",
    ),
  });
  expect(files()).toEqual(before);
});

test("what can't be put together is told, and nothing is written", async () => {
  const { run, files, migration } = aHistory();
  const before = files();
  expect(await run("squash")).toMatchObject({ code: 2, stderr: expect.stringContaining("needs --to") });
  expect(await run("squash", "--to", "9")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("they go from 0001_start to 0003_more"),
  });
  expect(await run("squash", "--to", "1")).toMatchObject({
    code: 4,
    stderr: "nothing was squashed: there is only 0001_start up to there\n",
  });
  expect(await run("squash", "a/b", "--to", "2")).toMatchObject({ code: 2 });
  expect(await run("squash", "more", "--to", "3")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("0003_more.ts"),
  });
  expect(files()).toEqual(before);
  migration("0004_vectors.ts", `m.createIndex("documents", "v", m.ivfFlat())`);
  const { code, stdout } = await run("squash", "--to", "4");
  expect(code).toBe(0);
  expect(stdout).toContain("note: the engine could not be asked, as they do not run on an empty database: ");
  expect(stdout).toContain("note: not in it: index v_idx on documents.v (ivfFlat)");
});
