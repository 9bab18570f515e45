/** Migrations written with `after`: TypeScript refuses what can't work where it stands, and nothing else. */
import { cpSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, root, type Project } from "../support/project.ts";
import { strictConfig, typeProblems } from "../support/type-check.ts";

const first = `
  m.createTable("documents", {
    id: m.int32().notNull(),
    title: m.utf8(),
    headline: m.utf8(),
    price: m.decimal128(10, 2),
    seen: m.timestamp("us"),
    source: m.struct({ url: m.utf8(), fetched: m.timestamp("us", "UTC") }).notNull(),
    place: m.struct({ town: m.utf8() }),
    parts: m.list(m.struct({ text: m.utf8(), length: m.int8() })),
    tags: m.list(m.utf8()),
    embedding: m.vector(8),
    cells: m.list(m.struct({ x: m.int8() })),
    language: m.dictionary(m.int8(), m.utf8()),
  }),
  m.createIndex("documents", "id", m.btree()),
  m.createTable("notes", { body: m.utf8() }),`;

/** The word at which TypeScript has to complain stands in «», and then what it has to say. */
const wrong: readonly (readonly [step: string, says: string])[] = [
  ['m.renameColumn(«"documentz"», "title", "x")', '"documents" | "notes"'],
  ['m.renameColumn("documents", «"titel"», "x")', '"title"'],
  ['m.renameColumn("documents", «"source.fetchd"», "x")', '"source.fetched" | "source.url"'],
  ['m.renameColumn("documents", «"title.length"», "x")', "there is nothing inside title"],
  ['m.retypeColumn("documents", "id", «m.float64()»)', "the engine can't cast documents.id from int32 to float64"],
  ['m.retypeColumn("documents", "tags", «m.list(m.int8())»)', "from list<utf8> to list<int8>"],
  ['m.retypeColumn("documents", "embedding", «m.vector(9)»)', "to fixedSizeList<float32, 9>"],
  ['m.retypeColumn("documents", "source", «m.utf8()»)', "the engine can't cast documents.source from struct to utf8"],
  ['m.retypeColumn("documents", "source.fetched", «m.int64()»)', "from timestamp(us, UTC) to int64"],
  ['m.retypeColumn("documents", "language", «m.int8()»)', "from dictionary<int8, utf8> to int8"],
  ['m.retypeColumn("documents", "nothing", m.int64())'.replace('"nothing"', '«"nothing"»'), '"title"'],
  ['m.createTable(«"notes"», { id: m.int8() })', "table notes already exists"],
  ['m.dropTable(«"nobody"»)', '"documents" | "notes"'],
  ['m.optimizeTable(«"nobody"»)', '"documents" | "notes"'],
  ['m.rebuildIndex(«"nobody"», "i")', '"documents" | "notes"'],
  ['m.renameTable("notes", «"documents"»)', "table documents already exists"],
  ['m.addColumn("documents", «"titel.by"», m.utf8())', '"title"'],
  ['m.addColumn("documents", «"source.nothing.by"», m.utf8())', '"source.fetched" | "source.url"'],
  ['m.alterColumns("documents", [{ path: "title", rename: "x" }, { «path»: "nowhere", nullable: false }])', '"title"'],
  ['m.alterColumns("documents", [{ path: "id", «type»: m.utf8() }])', "from int32 to utf8"],
  ['m.createIndex("documents", «"titel"», m.btree())', '"title"'],
  ['m.dropColumn("documents", «"titel"»)', '"title"'],
  ['m.setMetadata("documents", «"tags.x"», { a: "b" })', '"tags.item"'],
  ['m.insertRows("documents", [{ id: 1 }], { «key»: "idd" })', '"id"'],
  ['m.insertRows("documents", [{ id: 1, «titel»: "x" }], { key: "id" })', "'titel' does not exist"],
  [
    'm.populateTable(«"nobody"», { from: "documents", columns: ["title"], key: "id", source: "body", mark: "body", with: "./rows.ts", version: "1" })',
    '"documents" | "notes"',
  ],
  [
    'm.populateTable("notes", { «from»: "nobody", columns: ["title"], key: "id", source: "body", mark: "body", with: "./rows.ts", version: "1" })',
    '"documents" | "notes"',
  ],
  [
    'm.populateTable("notes", { from: "documents", columns: [«"titel"»], key: "id", source: "body", mark: "body", with: "./rows.ts", version: "1" })',
    '"title"',
  ],
  [
    'm.populateTable("notes", { from: "documents", columns: ["title"], «key»: "idd", source: "body", mark: "body", with: "./rows.ts", version: "1" })',
    '"id"',
  ],
  [
    'm.populateTable("notes", { from: "documents", columns: ["title"], key: "id", «source»: "bodi", mark: "body", with: "./rows.ts", version: "1" })',
    '"body"',
  ],
  ['m.execute("documents", { update: { «titel»: "null" } })', "'titel' does not exist"],
];

const steps = (step: string) => `import * as m from "lance-migrate";

export const up = m.after(
  "0001",
  m.setNullable("notes", "body", false),
  ${step},
  m.addColumn("notes", "number", m.int8()),
  m.renameColumn("notes", "number", "position"),
);
`;

/** After the first migration, with what \`migrate types\` writes. */
async function aHistory(): Promise<Project> {
  const project = aProject();
  project.write("tsconfig.json", strictConfig);
  project.migration("0001_start.ts", first);
  expect(await project.migrate(["types"])).toMatchObject({ code: 0 });
  return project;
}

const fileOf = (index: number) => `wrong/${String(index).padStart(2, "0")}.ts`;

test("TypeScript refuses wrong migrations, each at the wrong word and nowhere else; without the history it takes them", async () => {
  const project = await aHistory();
  const expected = wrong.map(([marked, says], index) => {
    const text = steps(marked);
    project.write(fileOf(index), text.replace(/[«»]/g, ""));
    const before = text.slice(0, text.indexOf("«")).split("\n");
    return { file: fileOf(index), line: before.length, column: before.at(-1)!.length + 1, says };
  });
  const found = typeProblems(project.folder);
  expect(found.map(({ file, line, column }) => ({ file, line, column }))).toEqual(
    expected.map(({ file, line, column }) => ({ file, line, column })),
  );
  for (const [index, { says }] of expected.entries()) expect(found[index]!.text).toContain(says);
  renameSync(join(project.folder, "migrations/history.d.ts"), join(project.folder, "history.txt"));
  expect(typeProblems(project.folder)).toEqual([]);
});

test("a version that the history does not have is refused, with the way out, and its steps are not", async () => {
  const project = await aHistory();
  project.write("wrong.ts", steps("m.dropTable('documents')").replace("0001", "0009"));
  expect(typeProblems(project.folder)).toMatchObject([
    { line: 4, text: expect.stringContaining("history.d.ts has no migration 0009; migrate types rewrites it") },
  ]);
});

/** Each step stands on the tables as those before it leave them. */
const right = {
  fields: `
    m.addColumn("documents", "place.zip", m.int8()),
    m.retypeColumn("documents", "place.zip", m.int16()),
    m.addColumn("documents", "place.at", m.struct({ floor: m.int8() })),
    m.addColumn("documents", "place.at.door", m.utf8()),
    m.renameColumn("documents", "place.at.door", "number"),
    m.dropColumn("documents", "place.zip"),
    m.dropColumn("documents", "place.at"),
    m.addColumn("documents", "zip", m.utf8()),`,
  columns: `
    m.renameColumn("documents", "title", "Title"),
    m.renameColumn("documents", "source.fetched", "fetched_at"),
    m.retypeColumn("documents", "source.fetched_at", m.timestamp("ms", "UTC")),
    m.retypeColumn("documents", "parts.item.length", m.int16()),
    m.retypeColumn("documents", "tags", m.largeList(m.largeUtf8())),
    m.retypeColumn("documents", "id", m.int64()),
    m.retypeColumn("documents", "price", m.float64(), { using: "cast(price as double)" }),
    m.retypeColumn("documents", "price", m.float32()),
    m.setNullable("documents", "id", true),
    m.setNullable("documents", "id", false),
    m.alterColumns("documents", [
      { path: "Title", rename: "headline" },
      { path: "headline", rename: "Title" },
      { path: "id", type: m.int32(), nullable: true },
      { path: "source.url", rename: "address" },
    ]),
    m.renameColumn("documents", "source.address", "url"),`,
  tables: `
    m.createTable("people", { id: m.int32().notNull(), home: m.struct({ lat: m.float64(), tags: m.list(m.utf8()) }) }),
    m.renameColumn("people", "home.lat", "latitude"),
    m.dropColumn("people", "home.latitude"),
    m.dropColumn("people", "home.tags"),
    m.renameTable("people", "persons"),
    m.addColumn("persons", "name", m.utf8()),
    m.addColumn("persons", "home", m.int8().notNull(), { as: "1" }),
    m.createIndex("persons", "name", m.fts()),
    m.dropIndex("persons", "name_idx"),
    m.optimizeTable("persons"),
    m.rebuildIndex("persons", "id_idx"),
    m.createIndex("persons", "id", m.btree(), { replace: true }),
    m.renameColumn("persons", "name", "called"),
    m.dropColumn("persons", "called"),`,
  rows: `
    m.createTable("persons", { id: m.int32().notNull(), home: m.int8() }),
    m.setMetadata("documents", "parts.item.text", { a: "b", c: null }),
    m.insertRows("persons", [{ id: 1, home: 2 }, { id: 3 }], { key: "id" }),
    m.execute("persons", { update: { home: "3", "\`id\`": "4" }, where: "id = 1" }),
    m.execute("persons", { delete: "id = 1" }),
    m.createTable("parts", { of: m.int32(), made_from: m.utf8() }),
    m.populateTable("parts", {
      from: "documents",
      columns: ["title"],
      key: "id",
      source: "of",
      mark: "made_from",
      with: { command: ["python3", "parts.py"] },
      version: "1",
      batch: 4,
    }),
    m.dropTable("parts"),
    m.dropTable("persons"),
    m.createTable("persons", [["1", m.int8()], ["b", m.int8()]]),
    m.renameColumn("persons", "1", "a"),`,
  // What a name is when it runs nobody can tell, nor what stands after it.
  variable: `
    m.renameColumn(String("documents"), "a", "b"),
    m.renameColumn("nobody", "a", "b"),`,
  computed: `
    m.createTable("drawn", Object.fromEntries([["a", m.int8()]])),
    m.renameColumn("drawn", "a", "b"),
    m.addColumn("drawn", "a", m.int8()),
    m.setNullable("notes", "body", false),`,
  spread: `
    m.renameColumn("notes", "body", "text"),
    ...["a", "b"].map((name) => m.addColumn("notes", name, m.utf8())),
    m.renameColumn("notes", "a", "c"),`,
  quoted: `
    m.renameColumn("notes", "\`body\`", "text"),
    m.renameColumn("notes", "text", "body"),`,
  long: Array.from(
    { length: 40 },
    (_, at) => `m.renameColumn("notes", "${at === 0 ? "body" : `b${at}`}", "b${at + 1}"),`,
  ).join("\n"),
  none: "",
};

test("TypeScript takes right migrations: every kind of step, whatever can't be told, and more steps than it checks", async () => {
  const project = await aHistory();
  for (const [name, text] of Object.entries(right))
    project.write(
      `right/${name}.ts`,
      `import * as m from "lance-migrate";\n\nexport const up = m.after("0001",${text});\n`,
    );
  project.write(
    "right/made.ts",
    `import { after, renameColumn, type Step } from "lance-migrate";
    const made = renameColumn("documents", "title", "x");
    const more: readonly Step[] = [made];
    export const up: readonly Step[] = after("0001", made, renameColumn("nobody", "a", "b"), ...more);
    export const down = [renameColumn("documents", "x", "title")];`,
  );
  project.write(
    "right/first.ts",
    `import { after, createTable, int8, renameColumn } from "lance-migrate";
    export const up = after("0000", createTable("documents", { a: int8() }), renameColumn("documents", "a", "b"));`,
  );
  expect(typeProblems(project.folder)).toEqual([]);
});

test("the steps that TypeScript checks are the first 16", async () => {
  const project = await aHistory();
  const many = (count: number) => `import * as m from "lance-migrate";\n\nexport const up = m.after("0001",
    ${Array.from({ length: count }, (_, at) => `m.addColumn("notes", "c${at}", m.utf8()),`).join("\n")}
    m.dropTable("nobody"));\n`;
  project.write("checked.ts", many(15));
  project.write("unchecked.ts", many(16));
  expect(typeProblems(project.folder).map(({ file }) => file)).toEqual(["checked.ts"]);
});

test("the repository's own migrations pass in this form", async () => {
  const project = aProject();
  const folder = join(project.folder, "migrations");
  project.write("tsconfig.json", strictConfig);
  cpSync(join(root, "migrations"), folder, { recursive: true });
  expect(await project.migrate(["types"])).toMatchObject({ code: 0 });
  const files = readdirSync(folder).filter((name) => /^\d/.test(name));
  expect(files.length).toBeGreaterThan(5);
  for (const file of files) {
    const version = String(Number.parseInt(file) - 1).padStart(4, "0");
    const text = readFileSync(join(folder, file), "utf8")
      .replace("import { ", "import { after, ")
      .replace("up = [", `up = after("${version}", `)
      .replace(/\];\s*$/, ");\n");
    expect(text).toContain("up = after(");
    writeFileSync(join(folder, file), text);
  }
  expect(typeProblems(project.folder)).toEqual([]);
  // Just the same steps.
  expect(await project.migrate(["types", "--check"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["lint"])).toMatchObject({ code: 0 });
});
