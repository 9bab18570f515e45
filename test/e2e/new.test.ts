/** Migrations that `migrate new` writes: each is what was asked for, TypeScript takes it, and it runs on the engine. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import * as m from "lance-migrate";
import { expect, test } from "vitest";
import { aProject, root, type Project } from "../support/project.ts";
import { columnsOf } from "../support/tables.ts";

type Input = readonly [flag: string, value: string, step: m.Step];

const types: Readonly<Record<string, m.ColumnType>> = {
  int8: m.int8(),
  int16: m.int16(),
  int32: m.int32(),
  int64: m.int64(),
  uint8: m.uint8(),
  uint16: m.uint16(),
  uint32: m.uint32(),
  uint64: m.uint64(),
  float16: m.float16(),
  float32: m.float32(),
  float64: m.float64(),
  bool: m.bool(),
  utf8: m.utf8(),
  largeUtf8: m.largeUtf8(),
  binary: m.binary(),
  largeBinary: m.largeBinary(),
  date32: m.date32(),
  date64: m.date64(),
  null: m.nullType(),
  "fixedSizeBinary(16)": m.fixedSizeBinary(16),
  "decimal128(10, 2)": m.decimal128(10, 2),
  "time32(ms)": m.time32("ms"),
  "time64(ns)": m.time64("ns"),
  "timestamp(us)": m.timestamp("us"),
  "timestamp(ns, Europe/Berlin)": m.timestamp("ns", "Europe/Berlin"),
  "timestamp(s, UTC) not null": m.timestamp("s", "UTC").notNull(),
  "duration(s)": m.duration("s"),
  "list<int32>": m.list(m.int32()),
  "list(utf8 not null)": m.list(m.utf8().notNull()),
  "largeList<float64>": m.largeList(m.float64()),
  "fixedSizeList<uint8, 4>": m.fixedSizeList(m.uint8(), 4),
  "vector(768)": m.vector(768),
  "vector(8, float16) not null": m.vector(8, m.float16()).notNull(),
  "dictionary<int32, utf8>": m.dictionary(m.int32(), m.utf8()),
  "struct<a: int32 not null, b: utf8>": m.struct({ a: m.int32().notNull(), b: m.utf8() }),
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
  return readdirSync(join(folder, "migrations")).toSorted();
}

test(`${inputs.length} inputs make files that say just that, are laid out, and run`, { timeout: 300_000 }, async () => {
  expect(inputs.length).toBeGreaterThanOrEqual(80);
  const project = aProject("shared");
  for (const [at, [flag, value, step]] of inputs.entries()) {
    const ended = await project.migrate(["new", `step_${at}`, `--${flag}`, value, "--accept", "irreversible"]);
    expect(ended, value).toMatchObject({ code: 0, stderr: "" });
    expect(await stepsIn(project, filesIn(project).at(-1)!), value).toEqual([plain(step)]);
  }
  expect(filesIn(project)).toHaveLength(inputs.length);
  expect(unlike(project)).toEqual([]);
  expect(await project.migrate(["lint"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["up"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`${inputs.length} migrations applied`),
  });
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
