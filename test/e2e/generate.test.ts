/** `migrate generate`: from what `schema.ts` declares to the next migration, with the built command. */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { lacks } from "../support/needs.ts";
import { aProject, type Project, onStderr, onStdout } from "../support/project.ts";
import { addRows, columnsOf, rowsOf } from "../support/tables.ts";
import { atTerminal } from "./support/terminal.ts";

/** A project with that schema; each command in a process of its own where a schema is changed under it. */
function declaring(tables: string): Project {
  const project = aProject();
  declare(project, tables);
  return project;
}

function declare({ write }: Project, tables: string): void {
  write("schema.ts", `import * as m from "lance-migrate";\nexport default m.defineSchema({${tables}});\n`);
}

function filesIn({ folder }: Project): readonly string[] {
  return readdirSync(join(folder, "migrations"))
    .filter((file) => file !== "lock.json")
    .toSorted();
}

/** What a terminal shows, without colours. */
function withoutStyles(shown: string): string {
  return stripVTControlCharacters(shown).replaceAll("\r", "");
}

function stepsIn({ folder }: Project, file: string): string {
  const text = readFileSync(join(folder, "migrations", file), "utf8");
  return text.slice(text.indexOf("export const up"));
}

const documents = `documents: m.table(
  { id: m.int32(), title: m.utf8(), source: m.struct({ url: m.utf8() }), v: m.vector(4) },
  { indexes: [{ on: "id", type: m.btree() }] },
),`;
const other = `documents: m.table(
  { id: m.int64().notNull(), headline: m.utf8(), v: m.vector(4), source: m.struct({ url: m.utf8() }), tags: m.list(m.utf8()) },
  { indexes: [{ on: "tags", type: m.labelList(), name: "by_tag" }] },
),
notes: { id: m.int64().notNull() },`;

test("from nothing to tables, and from these to others, until the migrations lead to what is declared", async () => {
  const project = declaring(documents);
  const { migrate } = project;
  expect(await migrate(["generate", "--check"])).toEqual({
    code: 3,
    stdout:
      "create table documents (id int32, title utf8, source struct<url: utf8>, v fixedSizeList<float32, 4>)\n" +
      "create index id_idx on documents.id: btree\n",
    stderr:
      "the migrations do not lead to the tables that schema.ts declares; migrate generate writes the next migration\n",
  });
  expect(filesIn(project)).toEqual([]);
  expect(await migrate(["generate", "documents"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^wrote migrations\/0001_documents\.ts\n {2}create table documents [^\n]*\n(?: {2}.*\n)*wrote migrations\/lock\.json\n$/,
    ),
  });
  expect(await migrate(["generate", "--check"])).toEqual({
    code: 0,
    stdout: "equal: the migrations lead to the tables that schema.ts declares\n",
    stderr: "",
  });
  expect(await migrate(["generate"])).toMatchObject(onStdout(0, "nothing to do"));
  expect(await migrate(["up"])).toMatchObject({ code: 0 });

  declare(project, other);
  expect(await migrate(["generate", "second"])).toEqual({
    code: 4,
    stdout: "",
    stderr:
      "documents.title is gone and documents.headline new; answer with --rename documents.title:headline, or --drop-column documents.title\n",
  });
  expect(await migrate(["generate", "--check", "--json"])).toMatchObject({
    code: 3,
    stdout: expect.stringContaining('"answers":["--rename documents.title:headline","--drop-column documents.title"]'),
  });
  expect(filesIn(project)).toEqual(["0001_documents.ts"]);
  expect(await migrate(["generate", "--rename", "documents.title:headline"])).toMatchObject({ code: 0 });
  expect(stepsIn(project, "0002_rename_column_documents_and_more.ts")).toBe(`export const up: readonly Step[] = [
  renameColumn("documents", "title", "headline"),
  retypeColumn("documents", "id", int64()),
  setNullable("documents", "id", false),
  addColumn("documents", "tags", list(utf8())),
  dropIndex("documents", "id_idx"),
  createIndex("documents", "tags", labelList(), { name: "by_tag" }),
  createTable("notes", { id: int64().notNull() }),
];
`);
  expect(await migrate(["generate", "--check"])).toMatchObject({ code: 0 });
  expect(await migrate(["up"])).toMatchObject({ code: 0 });
  expect((await columnsOf(project.database, "documents")).toSorted()).toEqual([
    "headline: utf8",
    "id: int64 not null",
    "source: struct<url: utf8>",
    "tags: list<utf8>",
    "v: fixedSizeList<float32, 4>",
  ]);
});

test("values that nobody can tell are said by flags", async () => {
  const project = declaring(`d: { id: m.int32(), title: m.utf8() }`);
  expect(await project.migrate(["generate", "first"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "d", [{ id: 7, title: "x" }]);
  declare(project, `d: { id: m.utf8(), title: m.utf8(), words: m.int32().notNull() }`);
  const answers = [
    ["--retype", "d.id:utf8 using cast(id as string)"],
    ["--add-column", "d.words:int32 not null as length(title)"],
  ].flat();
  expect(await project.migrate(["generate", "--check", ...answers])).toMatchObject({ code: 3 });
  expect(await project.migrate(["generate", "second", ...answers])).toMatchObject({ code: 0 });
  expect(await project.migrate(["generate", "--check"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
  expect(await rowsOf(project.database, "d")).toEqual([{ id: "7", title: "x", words: 1 }]);
});

test.skipIf(lacks("terminal"))(
  "at a terminal it offers what may have become of a column, the same type first",
  async () => {
    const project = declaring(`d: { id: m.int32(), title: m.utf8(), body: m.utf8() }`);
    expect(await project.migrate(["generate"])).toMatchObject({ code: 0 });
    declare(project, `d: { id: m.int32(), name: m.largeUtf8(), headline: m.utf8() }`);
    // The second question no longer offers the name that the first answer has taken.
    const { code, shown } = await atTerminal(project, "generate two", /1 to \d: /, ["headline\n", "1\n", "2\n"]);
    expect(code, shown).toBe(0);
    expect(withoutStyles(shown)).toContain(
      "d.title is gone and d.headline and d.name new\n  1  rename d.title to headline\n  2  rename d.title to name\n" +
        "  3  drop d.title (its values are lost)\n  4  stop and change nothing\n1 to 4: headline\ntype a number from 1 to 4\n1 to 4: 1\n" +
        "d.body is gone and d.name new\n  1  rename d.body to name\n  2  drop d.body (its values are lost)\n",
    );
    expect(stepsIn(project, "0002_two.ts")).toBe(
      `export const up: readonly Step[] = [\n  renameColumn("d", "title", "headline"),\n  addColumn("d", "name", largeUtf8()),\n  dropColumn("d", "body"),\n];\n`,
    );
  },
);

test.skipIf(lacks("terminal"))(
  "at a terminal Enter chooses nothing, and who stops reads the flags that answer",
  async () => {
    const project = declaring(`d: { id: m.int32(), title: m.utf8() }`);
    expect(await project.migrate(["generate"])).toMatchObject({ code: 0 });
    declare(project, `d: { id: m.int32(), headline: m.utf8() }`);
    const { code, shown } = await atTerminal(project, "generate two", /1 to \d: /, ["\n", " \n", "0\n", "3\n"]);
    expect(code, shown).toBe(4);
    expect(shown.split("type a number from 1 to 3")).toHaveLength(4);
    expect(withoutStyles(shown)).toContain("--drop-column d.title");
    expect(filesIn(project)).toHaveLength(1);
  },
);

test("a table with another name is renamed where --rename-table says so", async () => {
  const project = declaring(`d: { id: m.int32() }`);
  project.write(
    "migrate.config.ts",
    `export default { targets: { here: { kind: "rest", endpoint: "http://127.0.0.1:1", dialect: "namespace", apiKey: "k" } } };\n`,
  );
  expect(await project.migrate(["generate", "one"])).toMatchObject({ code: 0 });
  declare(project, `e: { id: m.int32() }`);
  expect(await project.migrate(["generate", "two"])).toEqual({
    code: 4,
    stdout: "",
    stderr: "d is gone and e new; answer with --rename-table d:e, or --drop-table d\n",
  });
  expect(await project.migrate(["generate", "two", "--rename-table", "d:e"])).toMatchObject({ code: 0 });
  expect(stepsIn(project, "0002_two.ts")).toBe(`export const up: readonly Step[] = [renameTable("d", "e")];\n`);
});

test("in a folder, which can't rename tables, the question states how to keep the rows", async () => {
  const project = declaring(`d: { id: m.int32() }`);
  expect(await project.migrate(["generate", "one"])).toMatchObject({ code: 0 });
  declare(project, `e: { id: m.int32() }`);
  const note =
    "if e replaces it, its rows will not be there, because this target can't rename tables: to keep them, declare d too, copy the rows after migrate up, and remove d from the schema later";
  expect(await project.migrate(["generate", "two"])).toEqual({
    code: 4,
    stdout: "",
    stderr: `d is gone; ${note}; answer with --drop-table d\n`,
  });
  const { stdout } = await project.migrate(["generate", "two", "--json"]);
  expect(JSON.parse(stdout.split("\n")[0]!)).toMatchObject({
    unsure: [{ gone: "d", names: [], note, answers: ["--drop-table d"] }],
  });
  expect(await project.migrate(["generate", "two", "--rename-table", "d:e"])).toMatchObject(
    onStderr(4, "can't rename a table; create the new one, copy the rows and drop the old one later"),
  );
  expect(filesIn(project)).toEqual(["0001_one.ts"]);
  expect(await project.migrate(["generate", "two", "--drop-table", "d"])).toMatchObject({ code: 0 });
});

test("what the target can't do is said, and nothing is written", async () => {
  const project = declaring(`d: { id: m.int32(), title: m.utf8() }`);
  expect(await project.migrate(["generate"])).toMatchObject({ code: 0 });
  declare(project, `d: { id: m.int32() }`);
  project.write(
    "migrate.config.ts",
    `export default { targets: { here: { kind: "rest", endpoint: "http://127.0.0.1:1" } } };\n`,
  );
  expect(
    await project.migrate(["generate", "two", "--drop-column", "d.title"], { MIGRATE_API_KEY: "k" }),
  ).toMatchObject(onStderr(4, "the dialect service has no request for dropColumn"));
  expect(filesIn(project)).toHaveLength(1);
});

const wrong = `import * as m from "lance-migrate";\n`;

const unusable = [
  [
    undefined,
    2,
    /schema\.ts does not exist; migrate pull --schema writes it from the migrations, or declare there what tables there should be/,
  ],
  [
    `${wrong}export const schema = m.defineSchema({});\n`,
    2,
    /^schema\.ts: its default export must be made by defineSchema\n$/,
  ],
  [`${wrong}export default m.defineSchema({ d: { id: m.int32(), ID: m.utf8() } });\n`, 2, /^schema\.ts: .*ID/],
  [
    `${wrong}export default m.defineSchema({ d: m.table({ id: m.int32() }, { indexes: [{ on: "ID", type: m.btree() }] }) });\n`,
    2,
    /^schema\.ts: the index on ID: d has no column ID/,
  ],
  [
    `${wrong}export default m.defineSchema({ d: m.table({ id: m.int32() }, { indexes: [{ on: "id", type: m.btree() }, { on: "id", type: m.bitmap() }] }) });\n`,
    2,
    /^schema\.ts: d has two indexes with the name id_idx; give one of them another name, or remove it\n$/,
  ],
  [
    `${wrong}export default m.defineSchema({ d: m.table({ id: m.int32() }, { indexes: [{ on: "id", type: m.btree(), name: "" }] }) });\n`,
    2,
    /^schema\.ts: d\.indexes\.0\.name must be the name of an index\n$/,
  ],
  [`${wrong}export default m.defineSchema({ d: { id: m.in32() } });\n`, 2, /^schema\.ts: m\.in32 is not a function/],
  [
    `${wrong}export default m.defineSchema({ d: { id: m.utf8() } });\n`,
    4,
    /^no steps lead there: d\.id can't be made utf8 from int32: .*; or say how with --retype 'd\.id:utf8 using SQL'\n$/,
  ],
] as const;

test("a schema.ts that can't be used is refused in one sentence", async () => {
  const project = declaring(`d: { id: m.int32() }`);
  expect(await project.migrate(["generate", "first"])).toMatchObject({ code: 0 });
  for (const [schema, code, words] of unusable) {
    if (schema === undefined) rmSync(join(project.folder, "schema.ts"));
    else project.write("schema.ts", schema);
    const ended = await project.migrate(["generate", "second"]);
    expect(ended, schema).toMatchObject({ code, stdout: "" });
    expect(ended.stderr).toMatch(words);
    expect(ended.stderr).toMatch(/^[^\n]+\n$/);
    expect(filesIn(project)).toEqual(["0001_first.ts"]);
  }
});

test("an answer that drops a table is written as the consent that it needs", async () => {
  const project = declaring("kept: { id: m.int32() }, gone: { id: m.int32() }");
  expect(await project.migrate(["generate", "first"])).toMatchObject({ code: 0 });
  declare(project, "kept: { id: m.int32() }");
  expect(await project.migrate(["generate", "second", "--drop-table", "gone"])).toMatchObject({ code: 0 });
  expect(readFileSync(join(project.folder, "migrations/0002_second.ts"), "utf8")).toContain(
    'accepts = ["irreversible"]',
  );
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
});

test("a column that is dropped beside a new one is noted, also in the file", async () => {
  const project = aProject();
  project.migration("0001_first.ts", `m.createTable("d", { id: m.int32(), score: m.utf8() }),`);
  declare(project, `d: { id: m.int32(), points: m.list(m.utf8()) }`);
  const note =
    "the values of d.score are lost: d.points begins with nulls; if a new column replaces it, use renameColumn and retypeColumn with using instead, or fill the new column with backfillColumn before the drop";
  expect(await project.migrate(["generate", "points", "--drop-column", "d.score"])).toMatchObject(
    onStderr(0, `note: ${note}\n`),
  );
  const text = readFileSync(join(project.folder, "migrations/0002_points.ts"), "utf8");
  expect(text).toContain(`/**\n * Points.\n *\n * ${note.replace("the", "The")}.\n */\n`);
});
