/** Migrations that `migrate new` writes: each is what was asked for, TypeScript takes it, and it runs on the engine. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import * as m from "lance-migrate";
import { expect, test } from "vitest";
import { lacks } from "../support/needs.ts";
import { aProject, root, type Project, onStderr, onStdout } from "../support/project.ts";
import { rounds } from "../support/rounds.ts";
import { columnsOf } from "../support/tables.ts";
import { atTerminal } from "./support/terminal.ts";

type Input = readonly [flag: string, value: string, step: m.Step];

/** Some that are written in different ways. */
const types: Readonly<Record<string, m.ColumnType>> = {
  utf8: m.utf8(),
  "fixedSizeBinary(16)": m.fixedSizeBinary(16),
  "decimal128(10, 2)": m.decimal128(10, 2),
  "time32(ms)": m.time32("ms"),
  "timestamp(ns, Europe/Berlin)": m.timestamp("ns", "Europe/Berlin"),
  "list(utf8 not null)": m.list(m.utf8().notNull()),
  "fixedSizeList<uint8, 4>": m.fixedSizeList(m.uint8(), 4),
  "vector(8, float16) not null": m.vector(8, m.float16()).notNull(),
  "dictionary<int32, utf8>": m.dictionary(m.int32(), m.utf8()),
  'struct(a struct(b list<struct<c: int8>>), "x y" bool)': m.struct({
    a: m.struct({ b: m.list(m.struct({ c: m.int8() })) }),
    "x y": m.bool(),
  }),
  "struct<b: int8, 1: int8>": m.struct([
    ["b", m.int8()],
    ["1", m.int8()],
  ]),
  "INT64 NOT NULL": m.int64().notNull(),
};

const text = `it's "quoted", \\ and \`ticked\``;
const long = "a long sentence that does not end before the line does, nor soon after that, as it goes on";

/** In this order each can run after those before it. */
const inputs: readonly Input[] = [
  ...Object.entries(types).map(([written, type], at): Input => [
    "create-table",
    `t${at}(id int32, c ${written})`,
    m.createTable(`t${at}`, { id: m.int32(), c: type }),
  ]),
  ["create-table", "tiny(a int32)", m.createTable("tiny", { a: m.int32() })],
  ["create-table", '"dotted.name"(a utf8)', m.createTable("dotted.name", { a: m.utf8() })],
  ["create-table", "`ticked.name`(a utf8)", m.createTable("ticked.name", { a: m.utf8() })],
  [
    "create-table",
    'odd(größe int32, 列 utf8, `select` int32, class bool, `a b` int8, `x:y` int8, `q"` int8, "d\'\'e" int8, `🙂` int8, __proto__ int8, `from,to` int8, not_null int8)',
    m.createTable("odd", [
      ["größe", m.int32()],
      ["列", m.utf8()],
      ["select", m.int32()],
      ["class", m.bool()],
      ["a b", m.int8()],
      ["x:y", m.int8()],
      ['q"', m.int8()],
      ["d''e", m.int8()],
      ["🙂", m.int8()],
      ["__proto__", m.int8()],
      ["from,to", m.int8()],
      ["not_null", m.int8()],
    ]),
  ],
  [
    "create-table",
    "numbers(b int8, 2 int8, 1 int8)",
    m.createTable("numbers", [
      ["b", m.int8()],
      ["2", m.int8()],
      ["1", m.int8()],
    ]),
  ],
  [
    "create-table",
    `seeded(code utf8 not null, name utf8, n float64, tags list<utf8>, at struct<x: int32>) rows ${JSON.stringify([
      { code: "en", name: text, n: 1e300, tags: ["a", "b"], at: { x: 1 } },
      { code: "de", name: "\u2028\n", n: -0.5, tags: [], at: null },
    ])}`,
    m.createTable(
      "seeded",
      {
        code: m.utf8().notNull(),
        name: m.utf8(),
        n: m.float64(),
        tags: m.list(m.utf8()),
        at: m.struct({ x: m.int32() }),
      },
      {
        rows: [
          { code: "en", name: text, n: 1e300, tags: ["a", "b"], at: { x: 1 } },
          { code: "de", name: "\u2028\n", n: -0.5, tags: [], at: null },
        ],
      },
    ),
  ],
  [
    "create-table",
    "d(id int32, title utf8, body utf8, score float64, source struct<url: utf8, fetched struct<at: int32, by: utf8>>, v vector(4), tags list<utf8>)",
    m.createTable("d", {
      id: m.int32(),
      title: m.utf8(),
      body: m.utf8(),
      score: m.float64(),
      source: m.struct({ url: m.utf8(), fetched: m.struct({ at: m.int32(), by: m.utf8() }) }),
      v: m.vector(4),
      tags: m.list(m.utf8()),
    }),
  ],
  ["rename", "d.title:headline", m.renameColumn("d", "title", "headline")],
  ["rename", "d.source.fetched.at:when", m.renameColumn("d", "source.fetched.at", "when")],
  ["rename", "odd.größe:大きさ", m.renameColumn("odd", "größe", "大きさ")],
  ["rename", "odd.`a b`:'a  b'".replaceAll("'", "`"), m.renameColumn("odd", "a b", "a  b")],
  ["rename", ' odd . "x:y" : "x, y" ', m.renameColumn("odd", "x:y", "x, y")],
  ["rename", "odd.select:where", m.renameColumn("odd", "select", "where")],
  ["rename", "odd.__proto__:constructor", m.renameColumn("odd", "__proto__", "constructor")],
  ["rename", '"dotted.name".a:b', m.renameColumn("dotted.name", "a", "b")],
  ["rename", 'odd.🙂:":)"', m.renameColumn("odd", "🙂", ":)")],
  ["retype", "d.id:int64", m.retypeColumn("d", "id", m.int64())],
  ["retype", "d.source.fetched.when:int64", m.retypeColumn("d", "source.fetched.when", m.int64())],
  ["retype", "d.v:vector(4, float64)", m.retypeColumn("d", "v", m.vector(4, m.float64()))],
  ["retype", "d.score:float32", m.retypeColumn("d", "score", m.float32())],
  ["retype", "d.headline:LargeUtf8", m.retypeColumn("d", "headline", m.largeUtf8())],
  [
    "retype",
    `d.body:int32 using length(body) + length('it''s "${long}"')`,
    m.retypeColumn("d", "body", m.int32(), { using: `length(body) + length('it''s "${long}"')` }),
  ],
  ["not-null", "d.id", m.setNullable("d", "id", false)],
  ["not-null", "d.source.url", m.setNullable("d", "source.url", false)],
  ["nullable", "d.id", m.setNullable("d", "id", true)],
  ["nullable", "seeded.code", m.setNullable("seeded", "code", true)],
  ["add-column", "d.lang:utf8", m.addColumn("d", "lang", m.utf8())],
  ["add-column", "d.words:int32 not null as 1 + 1", m.addColumn("d", "words", m.int32().notNull(), { as: "1 + 1" })],
  ["add-column", "d.note:utf8 as 'a \"b\"'", m.addColumn("d", "note", m.utf8(), { as: `'a "b"'` })],
  ["add-column", "d.`as`:int32 as 7", m.addColumn("d", "as", m.int32(), { as: "7" })],
  [
    "add-column",
    "d.extra:struct<a: list<int32>, b: timestamp(us, UTC)>",
    m.addColumn("d", "extra", m.struct({ a: m.list(m.int32()), b: m.timestamp("us", "UTC") })),
  ],
  ["drop-column", "d.note", m.dropColumn("d", "note")],
  ["drop-column", "d.source.fetched.by", m.dropColumn("d", "source.fetched.by")],
  ["drop-column", 'odd.":)"', m.dropColumn("odd", ":)")],
  ["create-index", "d.id:btree", m.createIndex("d", "id", m.btree())],
  [
    "create-index",
    "d.id:btree as by_id replace",
    m.createIndex("d", "id", m.btree(), { name: "by_id", replace: true }),
  ],
  ["rebuild-index", "d:by_id", m.rebuildIndex("d", "by_id")],
  ["create-index", "d.lang:Bitmap()", m.createIndex("d", "lang", m.bitmap())],
  ["create-index", "d.tags:labelList as by_tag", m.createIndex("d", "tags", m.labelList(), { name: "by_tag" })],
  [
    "create-index",
    "d.headline:fts(language: German, stem: true, customStopWords: [der, die, `das da`], maxTokenLength: 30) as words",
    m.createIndex(
      "d",
      "headline",
      m.fts({ language: "German", stem: true, customStopWords: ["der", "die", "das da"], maxTokenLength: 30 }),
      { name: "words" },
    ),
  ],
  ["drop-index", "d:by_tag", m.dropIndex("d", "by_tag")],
  ["drop-index", "d:words", m.dropIndex("d", "words")],
  [
    "add-computed-column",
    "d.doubled:list<float64> as array_repeat(1.5, 2)",
    m.addComputedColumn("d", "doubled", m.list(m.float64()), "array_repeat(1.5, 2)"),
  ],
  ["set-metadata", 'd.v:{"model": "e5"}', m.setMetadata("d", "v", { model: "e5" })],
  [
    "set-metadata",
    `d.v:${JSON.stringify({ model: null, "a b": text, größe: "1", "0": "zero" })}`,
    m.setMetadata("d", "v", { model: null, "a b": text, größe: "1", "0": "zero" }),
  ],
  [
    "insert-rows",
    'seeded(code):[{"code": "fr", "n": -1e-7, "tags": null}]',
    m.insertRows("seeded", [{ code: "fr", n: -1e-7, tags: null }], { key: "code" }),
  ],
  [
    "insert-rows",
    `seeded("code"):${JSON.stringify(Array.from({ length: 3 }, (_, at) => ({ code: `c${at}`, name: long })))}`,
    m.insertRows(
      "seeded",
      [0, 1, 2].map((at) => ({ code: `c${at}`, name: long })),
      { key: "code" },
    ),
  ],
  [
    "backfill-column",
    'seeded.name:{"from": ["n"], "key": "code", "with": "./names.ts", "version": "1", "where": "code = \'none\'"}',
    m.backfillColumn("seeded", "name", {
      from: ["n"],
      key: "code",
      with: "./names.ts",
      version: "1",
      where: "code = 'none'",
    }),
  ],
  ["create-table", "copies(of utf8, made_from utf8)", m.createTable("copies", { of: m.utf8(), made_from: m.utf8() })],
  [
    "populate-table",
    'copies:{"from": "seeded", "columns": ["n"], "key": "code", "source": "of", "mark": "made_from", "with": "./rows.ts", "version": "1", "where": "code = \'none\'"}',
    m.populateTable("copies", {
      from: "seeded",
      columns: ["n"],
      key: "code",
      source: "of",
      mark: "made_from",
      with: "./rows.ts",
      version: "1",
      where: "code = 'none'",
    }),
  ],
  [
    "execute",
    `seeded:{"update": {"name": "'it''s'"}, "where": "code = 'fr'"}`,
    m.execute("seeded", { update: { name: "'it''s'" }, where: "code = 'fr'" }),
  ],
  ["execute", `seeded:{"update": {"n": "2"}}`, m.execute("seeded", { update: { n: "2" } })],
  [
    "execute",
    `seeded:{"delete": "code = 'c0' or \`name\` is null"}`,
    m.execute("seeded", { delete: "code = 'c0' or `name` is null" }),
  ],
  [
    "alter",
    'odd:[{"path": "where", "rename": "class"}, {"path": "class", "rename": "where"}]',
    m.alterColumns("odd", [
      { path: "where", rename: "class" },
      { path: "class", rename: "where" },
    ]),
  ],
  [
    "alter",
    'tiny:[{"path": "a", "rename": "b", "type": "int64"}]',
    m.alterColumns("tiny", [{ path: "a", rename: "b", type: m.int64() }]),
  ],
  [
    "reembed-column",
    'seeded.name:vector(4):{"from": ["n"], "key": "code", "with": "./names.ts", "version": "1", "where": "code = \'none\'"}',
    m.reembedColumn("seeded", "name", {
      type: m.vector(4),
      from: ["n"],
      key: "code",
      with: "./names.ts",
      version: "1",
      where: "code = 'none'",
    }),
  ],
  ["optimize-table", "t0", m.optimizeTable("t0")],
  ["drop-table", "t0", m.dropTable("t0")],
  ["drop-table", '"ticked.name"', m.dropTable("ticked.name")],
];

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

async function stepsIn(project: Project, file: string, list = "up"): Promise<unknown> {
  const module = (await import(pathToFileURL(join(project.folder, "migrations", file)).href)) as Record<
    string,
    unknown
  >;
  return plain(module[list]);
}

function filesIn({ folder }: Project): readonly string[] {
  return readdirSync(join(folder, "migrations"))
    .filter((file) => file !== "lock.json")
    .toSorted();
}

/** How many inputs make one file: with one each, a mistake is in a file of its own, and takes much longer to be found. */
const together = rounds(50, 1);

test(`${inputs.length} inputs make files that say just that, are laid out, and run`, async () => {
  expect(inputs.length).toBeGreaterThanOrEqual(60);
  const project = aProject();
  project.write("names.ts", "export default (rows: readonly object[]) => rows.map(() => null);\n");
  for (let at = 0; at < inputs.length; at += together) {
    const some = inputs.slice(at, at + together);
    const flags = some.flatMap(([flag, value]) => [`--${flag}`, value]);
    const ended = await project.migrate(["new", `step_${at}`, ...flags, "--accept", "irreversible"]);
    expect(ended, flags.join(" ")).toMatchObject({ code: 0, stderr: "" });
    const steps = some.map(([, , step]) => plain(step));
    expect(await stepsIn(project, filesIn(project).at(-1)!), flags.join(" ")).toEqual(steps);
  }
  expect(unlike(project)).toEqual([]);
  expect(await project.migrate(["lint"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["up"])).toMatchObject(
    onStdout(0, `${Math.ceil(inputs.length / together)} migrations applied`),
  );
  expect(await columnsOf(project.database, "tiny")).toEqual(["b: int64"]);
});

/** The files that a formatter would write otherwise, in lines of 80. */
function unlike({ folder, write }: Project): readonly string[] {
  write("format.json", `{ "printWidth": 80 }\n`);
  const before = new Map(
    readdirSync(join(folder, "migrations")).map((file) => [
      file,
      readFileSync(join(folder, "migrations", file), "utf8"),
    ]),
  );
  execFileSync(join(root, "node_modules/.bin/oxfmt"), ["-c", "format.json", "migrations"], { cwd: folder });
  return [...before].flatMap(([file, text]) => {
    const formatted = readFileSync(join(folder, "migrations", file), "utf8");
    return formatted === text ? [] : [`${text}\n--- would be\n${formatted}`];
  });
}

test("the first migration needs no folder for it", async () => {
  const project = aProject();
  rmSync(join(project.folder, "migrations"), { recursive: true });
  expect(await project.migrate(["new", "first", "--create-table", "d(id int32)"])).toMatchObject({
    code: 0,
    stdout: "wrote migrations/0001_first.ts\nwrote migrations/lock.json\n",
  });
});

/** A project with an applied table, and the names of its files. */
/** In JavaScript, where the language does not matter: a process of its own takes seconds to type-check. */
async function started(language: "ts" | "js" = "ts") {
  const project = aProject();
  if (language === "js") project.write("index.js", "");
  const first = ["new", "first", "--create-table", "d(id int32, title utf8, score float64)"];
  expect(await project.migrate(first)).toMatchObject({ code: 0 });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  return project;
}

function textOf({ folder }: Project, file: string): string {
  return readFileSync(join(folder, "migrations", file), "utf8");
}

test("steps run in the order in which they are typed, whatever their flags", async () => {
  const project = await started();
  const typed = [
    "--rename",
    "d.id:key",
    "--add-column=d.id:utf8",
    "--rename",
    "d.title:id2",
    "--retype",
    "d.key:int64",
  ];
  expect(await project.migrate(["new", ...typed, "more", "--rename", "d.id2:title"])).toMatchObject({ code: 0 });
  expect(await stepsIn(project, "0002_more.ts")).toEqual(
    plain([
      m.renameColumn("d", "id", "key"),
      m.addColumn("d", "id", m.utf8()),
      m.renameColumn("d", "title", "id2"),
      m.retypeColumn("d", "key", m.int64()),
      m.renameColumn("d", "id2", "title"),
    ]),
  );
});

test("--down writes out what rolls it back, and that does", async () => {
  const project = await started();
  const before = await columnsOf(project.database, "d");
  const steps = [
    "--rename",
    "d.title:headline",
    "--retype",
    "d.id:int64",
    "--create-index",
    "d.id:btree",
    "--not-null",
    "d.id",
  ];
  expect(await project.migrate(["new", "more", ...steps, "--down"])).toMatchObject({ code: 0 });
  expect(await stepsIn(project, "0002_more.ts", "down")).toHaveLength(4);
  expect(textOf(project, "0002_more.ts")).toContain(`
/** What rolls it back. */
export const down: readonly Step[] = [
  setNullable("d", "id", true),
  dropIndex("d", "id_idx"),
  retypeColumn("d", "id", int32()),
  renameColumn("d", "headline", "title"),
];
`);
  expect(unlike(project)).toEqual([]);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await columnsOf(project.database, "d")).toEqual(before);
});

test("a written down takes rows with it that nobody asks about, and that is said", async () => {
  const project = await started();
  expect(await project.migrate(["new", "more", "--add-column", "d.n:int32", "--down"])).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^note: migrate down does not look for rows that block a written down.*\n$/),
  });
});

test("what loses something is said, and accepted in the file where that is asked for", async () => {
  const project = await started();
  expect(await project.migrate(["new", "drop", "--drop-column", "d.title"])).toMatchObject({
    code: 0,
    stderr: "note: step 1 loses something: d.title is dropped with its values\n",
  });
  rmSync(join(project.folder, "migrations/0002_drop.ts"));
  expect(await project.migrate(["new", "drop", "--drop-column", "d.title", "--accept", "lossy"])).toMatchObject({
    code: 0,
    stderr: "",
  });
  expect(await stepsIn(project, "0002_drop.ts", "accepts")).toEqual(["lossy"]);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
});

test("consent that is not enough for up is refused before anything is written", async () => {
  const project = await started();
  const gone = ["new", "gone", "--drop-table", "d", "--accept"];
  expect(await project.migrate([...gone, "lossy"])).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(
      /^0002_gone\.ts, step 1 \(dropTable\) needs consent: [^;]*; pass --accept irreversible\n$/,
    ),
  });
  expect(existsSync(join(project.folder, "migrations/0002_gone.ts"))).toBe(false);
  expect(await project.migrate([...gone, "irreversible"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
});

const refused = [
  [
    ["--rename", "d.title=headline"],
    2,
    '--rename "d.title=headline": expected ":" at its end; it is written --rename "TABLE.COLUMN:NAME"',
  ],
  [["--rename", "d.title:head line"], 2, 'expected its end where "line" stands'],
  [
    ["--rename", "d.ttle:headline"],
    4,
    "0002_more.ts, step 1 (renameColumn): d has no column ttle at this point; did you mean title?",
  ],
  [["--rename", "d.title:_rowid"], 4, "is reserved by the engine"],
  [["--rename", "d.title:a", "--rename", "d.title:b"], 4, "0002_more.ts, step 2 (renameColumn)"],
  [["--rename", ""], 2, '--rename needs a value: "TABLE.COLUMN:NAME"'],
  [["--retype", "d.id:string"], 2, "there is no type string; did you mean utf8?"],
  [["--retype", "d.id:int64 not null"], 2, "notNull() has no place here; use setNullable in a step of its own"],
  [["--retype", "d.id:int64 using "], 2, "expected an SQL expression at its end"],
  [["--add-column", "d.n:time32(us)"], 2, 'type.unit must be "s" or "ms"'],
  [["--add-column", "d.n:list<int32"], 2, 'expected ">" at its end'],
  [["--create-index", "d.id:ivfPq(partitions: 3)"], 2, "hold an unknown one: partitions"],
  [["--set-metadata", "d.id:{model: 1}"], 2, "in its JSON"],
  [["--set-metadata", 'd.id:{"__proto__": "x"}'], 2, "__proto__ can't be a key in its JSON"],
  [["--create-index", "d.id:ivfPq(numBits: 4, numBits: 8)"], 2, "numBits is given twice"],
  [
    ["--drop-column", "d.title", "--down"],
    4,
    "can't be rolled back: d.title is dropped with its values; leave --down out",
  ],
  [["--down"], 2, "--down needs steps"],
  [["--accept", "lossy"], 2, "--accept needs steps"],
  [["--no-rename"], 2, '--rename needs a value: "TABLE.COLUMN:NAME"'],
] as const;

test("what can't work is refused in one sentence, and nothing is written", async () => {
  const project = await started();
  for (const [args, code, words] of refused) {
    const { stderr, ...ended } = await project.migrate(["new", "more", ...args]);
    expect({ args, ...ended }, stderr).toEqual({ args, code, stdout: "" });
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(stderr).toContain(words);
    expect(filesIn(project)).toEqual(["0001_first.ts"]);
  }
});

const own = {
  namespace: `import * as m from "lance-migrate";\n\n// The template of this project.\nexport const up = [];\n`,
  named: `import { utf8, list as many, type Step } from "lance-migrate";\n\nexport const owner = "data";\nexport const up: Step[] = [];\nexport const down: Step[] = [];\nexport const kind = [utf8, many];\n`,
} as const;

test("a template of the project's own is filled in as it is", async () => {
  const project = await started();
  const steps = ["--add-column", "d.tags:list<utf8>", "--down"];
  project.write("templates/migration.ts", own.namespace);
  expect(await project.migrate(["new", "more", ...steps])).toMatchObject({ code: 0 });
  expect(textOf(project, "0002_more.ts")).toBe(
    `import * as m from "lance-migrate";\n\n// The template of this project.\nexport const up = [m.addColumn("d", "tags", m.list(m.utf8()))];\n\n` +
      `/** What rolls it back. */\nexport const down = [m.dropColumn("d", "tags")];\n`,
  );
  rmSync(join(project.folder, "migrations/0002_more.ts"));
  project.write("templates/migration.ts", own.named);
  expect(await project.migrate(["new", "more", ...steps])).toMatchObject({ code: 0 });
  expect(textOf(project, "0002_more.ts")).toBe(
    `import {\n  addColumn,\n  dropColumn,\n  list,\n  utf8,\n  list as many,\n  type Step,\n} from "lance-migrate";\n\nexport const owner = "data";\n` +
      `export const up: Step[] = [addColumn("d", "tags", list(utf8()))];\nexport const down: Step[] = [dropColumn("d", "tags")];\nexport const kind = [utf8, many];\n`,
  );
});

test.each([
  [
    `import { type Step } from "lance-migrate";\nexport const up: readonly Step[] = [];\nconst wrong: number = "text";\n`,
    "TypeScript refuses: Type 'string' is not assignable to type 'number'",
  ],
  [
    `import { type Step } from "lance-migrate";\nexport const up: Step[] = [];\nup.push({ kind: "dropTable", table: "d" });\n`,
    "has other steps than it was given",
  ],
])("a template that makes a wrong file is told, and nothing is written: %j", async (template, words) => {
  const project = await started();
  project.write("templates/migration.ts", template);
  expect(await project.migrate(["new", "more", "--rename", "d.title:headline"])).toMatchObject(onStderr(2, words));
  expect(filesIn(project)).toEqual(["0001_first.ts"]);
});

const asked = /add_headlines: |step: /;

test("a tsconfig.json that can't be read is told", async () => {
  const project = await started();
  project.write("tsconfig.json", "{ not json");
  const { code, stderr } = await project.migrate(["new", "more", "--rename", "d.title:headline"]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^tsconfig\.json can't be used: /) });
  expect(filesIn(project)).toEqual(["0001_first.ts"]);
});

test("a key that every object has is rolled back as one that was not there", async () => {
  const project = await started("js");
  const made = ["new", "more", "--set-metadata", 'd.id:{"constructor": "w"}', "--down"];
  expect(await project.migrate(made)).toMatchObject({ code: 0 });
  expect(await stepsIn(project, "0002_more.js", "down")).toEqual(
    plain([m.setMetadata("d", "id", { constructor: null } as never)]),
  );
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
});

test.skipIf(lacks("terminal"))("lines that are pasted while nobody asks are kept", async () => {
  const project = await started("js");
  const pasted = "more\rcreate-table a(id int32)\rcreate-table b(id int32)\rcreate-table c(id int32)\r\r";
  const { code, shown } = await atTerminal(project, "new", asked, [pasted]);
  expect(code, shown).toBe(0);
  expect(await stepsIn(project, "0002_more.js")).toHaveLength(3);
});

test.skipIf(lacks("terminal"))("given nothing at a terminal it asks, and asks again for what can't work", async () => {
  const project = await started("js");
  const typed = [
    "a.b",
    "more",
    "?",
    "rename d.ttle:headline",
    "renam x",
    '--rename "d.title:headline"',
    "retype d.id:int64",
    'drop-table "d"',
    "",
  ];
  const { code, shown } = await atTerminal(
    project,
    "new",
    asked,
    typed.map((line) => `${line}\n`),
  );
  expect(code, shown).toBe(0);
  for (const words of [
    '"a.b" is not a valid name for a migration',
    "retype TABLE.COLUMN:TYPE [using SQL]",
    "0002_more.js, step 1 (renameColumn): d has no column ttle at this point; did you mean title?",
    "there is no step renam; did you mean rename?",
  ])
    expect(shown).toContain(words);
  expect(await stepsIn(project, "0002_more.js")).toEqual(
    plain([m.renameColumn("d", "title", "headline"), m.retypeColumn("d", "id", m.int64()), m.dropTable("d")]),
  );
  for (const end of ["\u0003", "\u0004"]) {
    expect((await atTerminal(project, "new", asked, ["other\n", "rename d.id:key\n", end])).code).toBe(130);
    expect(filesIn(project)).toEqual(["0001_first.js", "0002_more.js"]);
  }
});
