/** A history that is put together in one migration: databases that have it know it again, and new ones come out the same. */
import { connect } from "@lancedb/lancedb";
import { addColumn, utf8 } from "lance-migrate";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checksumOf, shortHash } from "../../src/migrations/checksum.ts";
import { aProject, onStderr, onStdout } from "../support/project.ts";
import { columnsOf } from "../support/tables.ts";

const history = {
  "0001_start": [
    `m.createTable("documents", { id: m.int32().notNull(), title: m.utf8(), v: m.vector(4) })`,
    `m.createTable("notes", { id: m.int32() })`,
    `m.createTable("languages", { code: m.utf8().notNull(), name: m.utf8() }, { rows: [{ code: "en", name: "English" }] })`,
  ],
  "0002_change": [
    `m.renameColumn("documents", "title", "headline")`,
    `m.retypeColumn("documents", "id", m.int64())`,
    `m.dropTable("notes")`,
    `m.createTable("notes", { body: m.utf8() })`,
  ],
  "0003_more": [
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

/** What is written in TypeScript is type-checked, which takes most of the time. */
function aHistory(kind: "ts" | "js" = "js") {
  const project = aProjectWith(["old", "new", "part"]);
  for (const [name, steps] of Object.entries(history)) project.migration(`${name}.${kind}`, steps.join(",\n"));
  return project;
}

function aProjectWith(databases: readonly string[]) {
  const project = aProject();
  const target = (name: string) => `${name}: { kind: "lance", uri: "${name}" }`;
  project.write(
    "migrate.config.ts",
    `export default { target: "old", targets: { ${databases.map(target).join(", ")} } };\n`,
  );
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

test("old databases know it again, new ones come out the same, and both go on", async () => {
  const { run, files, migration, folder } = aHistory();
  expect(await run("up", "--accept", "irreversible")).toMatchObject({ code: 0 });
  expect(await run("squash", "--to", "3", "--dry-run")).toMatchObject(
    onStdout(0, "3 migrations with 15 steps would be one with 8 steps\non the engine both make the same: 3 tables"),
  );
  expect(files()).toHaveLength(3);
  const squashed = await run("squash", "start", "--to", "3");
  expect(squashed).toMatchObject({ code: 0, stderr: "" });
  expect(squashed.stdout).toBe(
    "wrote migrations/0003_start.js: 3 migrations with 15 steps are one with 8 steps\n" +
      "on the engine both make the same: 3 tables\n" +
      "note: the steps of languages stay as they were, as they bring rows\n" +
      "wrote migrations/lock.json\n",
  );
  expect(files()).toEqual(["0003_start.js", "lock.json"]);
  expect(readFileSync(join(folder, "migrations/0003_start.js"), "utf8")).toMatch(
    /export const replaces = \[\n {2}"0001_start [0-9a-f]{16}",\n {2}"0002_change [0-9a-f]{16}",\n {2}"0003_more [0-9a-f]{16}",\n\];/,
  );
  expect(await run("lint")).toMatchObject({ code: 0 });
  migration("0004_last.js", `m.addColumn("notes", "at", m.int64())`);
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
  const { run, files, folder } = aHistory("ts");
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

test("a squash of a squash is known to databases that ran the originals, and to those that ran the first one", async () => {
  const { run, migration, folder } = aHistory();
  const up = async (database: string, ...args: string[]) =>
    await run("up", "--target", database, "--accept", "irreversible", ...args);
  expect(await up("old")).toMatchObject({ code: 0 });
  expect(await up("part", "--to", "1")).toMatchObject({ code: 0 });
  expect(await run("squash", "one", "--to", "2")).toMatchObject({ code: 0 });
  expect(await up("new")).toMatchObject({ code: 0 });
  expect(await run("squash", "two", "--to", "3")).toMatchObject({ code: 0, stderr: "" });
  expect(readFileSync(join(folder, "migrations/0003_two.js"), "utf8")).toMatch(
    /export const replaces = \[\n {2}"0001_start \w{16} became 0002_one",\n {2}"0002_change \w{16} became 0002_one",\n {2}"0002_one \w{16}",\n {2}"0003_more \w{16}",\n\];/,
  );
  migration("0004_last.js", `m.addColumn("notes", "at", m.int64())`);
  for (const [database, names] of [
    ["old", "0001_start, 0002_change, 0003_more"],
    ["new", "0002_one, 0003_more"],
  ] as const) {
    expect(await run("status", "--check", "--target", database)).toMatchObject({ code: 3 });
    expect(await up(database)).toMatchObject(onStderr(0, `0003_two ran here as ${names}: recorded`));
    expect(await run("status", "--check", "--target", database)).toMatchObject({ code: 0 });
    expect(await run("verify", "--target", database)).toMatchObject({ code: 0 });
  }
  expect(await tables(join(folder, "new"))).toEqual(await tables(join(folder, "old")));
  const refusal =
    "0003_two.js replaces migrations that ran before: 0001_start is applied here, and 0002_change is not; run migrate up first with a release that still has the file of 0002_change\n";
  expect(await up("part")).toMatchObject({ code: 4, stderr: refusal });
  expect(await run("status", "--check", "--target", "part")).toMatchObject(onStdout(4, `\n${refusal}`));
});

test("renumbered migrations are squashed, and a database on which they ran in another order is told how to get theirs", async () => {
  const { run, migration, write, folder } = aProjectWith(["old", "new"]);
  const file = (name: string, steps: string, was = "") =>
    write(`migrations/${name}.js`, `import * as m from "lance-migrate";\nexport const up = [${steps}];\n${was}`);
  const [lang, pages] = ["lang", "pages"].map((name) => `m.addColumn("documents", "${name}", m.utf8())`);
  migration("0001_documents.js", `m.createTable("documents", { id: m.int32() })`);
  file("0002_lang", lang!);
  expect(await run("up")).toMatchObject({ code: 0 });
  rmSync(join(folder, "migrations/0002_lang.js"));
  file("0002_pages", pages!);
  const sum = shortHash(checksumOf([JSON.parse(JSON.stringify(addColumn("documents", "lang", utf8())))]));
  file("0003_lang", lang!, `export const was = ["0002_lang ${sum}"];\n`);
  for (const database of ["old", "new"]) expect(await run("up", "--target", database)).toMatchObject({ code: 0 });
  const before = ["0001_documents", "0002_pages", "0003_lang"].map(
    (name) => [name, readFileSync(join(folder, `migrations/${name}.js`), "utf8")] as const,
  );
  expect(await run("squash", "lang", "--to", "2")).toMatchObject({
    code: 4,
    stderr: "nothing was squashed: 0002_lang is a former name in 0003_lang.js; choose another name\n",
  });
  expect(await run("squash", "all", "--to", "3")).toMatchObject({ code: 0, stderr: "" });
  expect(await run("up", "--target", "new")).toMatchObject({ code: 0 });
  expect(await run("verify", "--target", "new")).toMatchObject({ code: 0 });
  const refusal =
    "0003_all.js replaces migrations that ran before: 0003_lang ran here before 0002_pages, and table documents: the columns are in another order: id, lang, pages instead of id, pages, lang; with a release that still has their files, run migrate down --to 0001 and migrate up, which applies them in the order of their numbers\n";
  for (const command of ["up", "plan", "verify"])
    expect(await run(command)).toMatchObject({ code: 4, stderr: refusal });
  expect(await run("status", "--check")).toMatchObject(onStdout(4, refusal));
  // The way out that it states.
  const squashed = readFileSync(join(folder, "migrations/0003_all.js"), "utf8");
  rmSync(join(folder, "migrations/0003_all.js"));
  for (const [name, text] of before) write(`migrations/${name}.js`, text);
  expect(await run("down", "--to", "1")).toMatchObject({ code: 0 });
  expect(await run("up")).toMatchObject({ code: 0 });
  for (const [name] of before) rmSync(join(folder, `migrations/${name}.js`));
  write("migrations/0003_all.js", squashed);
  expect(await run("up")).toMatchObject(
    onStderr(0, "0003_all ran here as 0001_documents, 0002_pages, 0003_lang: recorded"),
  );
  expect(await tables(join(folder, "new"))).toEqual(await tables(join(folder, "old")));
});

test("a vector index is part of a squash, and deferred on the empty databases that prove it", async () => {
  const { run, migration } = aHistory();
  migration("0004_vectors.js", `m.createIndex("documents", "v", m.ivfFlat())`);
  const { code, stdout } = await run("squash", "--to", "4");
  expect(code).toBe(0);
  expect(stdout).toContain("on the engine both make the same: 3 tables");
  expect(stdout).not.toContain("not in it");
});

test("what can't be put together is told, and nothing is written", async () => {
  const { run, files, migration } = aHistory();
  const before = files();
  expect(await run("squash")).toMatchObject(onStderr(2, "needs --to"));
  expect(await run("squash", "--to", "9")).toMatchObject(onStderr(2, "they go from 0001_start to 0003_more"));
  expect(await run("squash", "--to", "1")).toMatchObject({
    code: 4,
    stderr: "nothing was squashed: there is only 0001_start up to there\n",
  });
  expect(await run("squash", "a/b", "--to", "2")).toMatchObject({ code: 2 });
  expect(await run("squash", "more", "--to", "3")).toMatchObject(onStderr(2, "0003_more.js"));
  expect(files()).toEqual(before);
  migration("0004_vectors.js", `m.execute("documents", { delete: "nofunc(v)" })`);
  expect(await run("squash", "--to", "4")).toMatchObject(
    onStdout(0, "note: the engine could not be asked, as they do not run on an empty database: "),
  );
});
