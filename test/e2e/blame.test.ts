import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, type Project } from "../support/project.ts";

/** Four migrations, of which three are applied: a folder can't rename a table. */
async function history(): Promise<Project> {
  const project = aProject();
  const source = `m.struct({ url: m.utf8(), size: m.int32() })`;
  const columns = `{ id: m.int64().notNull(), title: m.utf8(), source: ${source}, "old name": m.utf8() }`;
  project.migration("0001_documents.ts", `m.createTable("documents", ${columns})`);
  project.migration("0002_headlines.ts", `m.renameColumn("documents", "title", "headline")`);
  project.migration(
    "0003_origin.ts",
    `m.renameColumn("documents", "source", "origin"), m.dropColumn("documents", "old name")`,
  );
  expect(await project.migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
  const pending = `m.renameTable("documents", "papers"), m.setNullable("papers", "headline", false)`;
  project.migration("0004_papers.ts", pending);
  return project;
}

/** Without what differs from run to run. */
function steady(stdout: string): readonly string[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) =>
      line.replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ {2}\S+ \(process \d+\)/, "WHEN WHO").replaceAll(/ {2,}/g, "  "),
    );
}

const pending = "; once the pending migrations are applied";
const moved = "0004_papers  step 1  pending  table renamed from documents to papers";
const created = "0001_documents  step 1  WHEN WHO  created as utf8";

const headline = [
  `papers.headline (utf8 not null), before that documents.headline, documents.title${pending}`,
  "0004_papers  step 2  pending  changed from utf8 to utf8 not null",
  moved,
  "0002_headlines  step 1  WHEN WHO  renamed from title to headline",
  created,
];

const url = [
  `papers.origin.url (utf8), before that documents.origin.url, documents.source.url${pending}`,
  moved,
  "0003_origin  step 1  WHEN WHO  renamed from source.url to origin.url",
  created,
];

const dropped = ["documents.old name (dropped)", "0003_origin  step 2  WHEN WHO  dropped, as utf8", created];

test("the changes to a column are found by all of its names, also in structs and after it is dropped", async () => {
  const project = await history();
  for (const [name, lines] of [
    ["documents.headline", headline],
    ["documents.title", headline],
    ["papers.headline", headline],
    ["documents.origin.url", url],
    ["documents.source.url", url],
    ['documents."old name"', dropped],
  ] as const) {
    const { code, stdout, stderr } = await project.migrate(["blame", name]);
    expect({ name, code, stderr, lines: steady(stdout) }).toEqual({ name, code: 0, stderr: "", lines });
  }
  const titles = async (name: string) =>
    steady((await project.migrate(["blame", name])).stdout).filter((line) => !/^\d{4}_|^$/.test(line));
  expect(await titles("papers.origin")).toEqual([
    `papers.origin (struct<url: utf8, size: int32>), before that documents.origin, documents.source${pending}`,
    `papers.origin.url (utf8), before that documents.origin.url, documents.source.url${pending}`,
    `papers.origin.size (int32), before that documents.origin.size, documents.source.size${pending}`,
  ]);
  expect(await titles("documents")).toHaveLength(6);
});

test("the JSON has who ran which change, when and how long", async () => {
  const project = await history();
  const { columns, problems } = JSON.parse((await project.migrate(["blame", "documents.headline", "--json"])).stdout);
  expect(problems).toEqual([]);
  expect(columns).toMatchObject([
    {
      names: ["documents.title", "documents.headline", "papers.headline"],
      now: { table: "papers", path: "headline", type: "utf8 not null" },
      events: [
        { version: 4, step: 2, name: "papers", status: "pending", change: "nullability" },
        { version: 4, step: 1, change: "moved" },
        {
          version: 2,
          name: "headlines",
          status: "applied",
          change: "renamed",
          before: "title",
          after: "headline",
          at: expect.stringMatching(/^\d{4}-.*Z$/),
          by: expect.stringContaining("@"),
          duration: expect.any(Number),
        },
        { version: 1, change: "created", after: "utf8" },
      ],
    },
  ]);
});

test("a column that a later one has the name of comes after it", async () => {
  const project = aProject();
  project.migration("0001_t.ts", `m.createTable("t", { id: m.int32(), a: m.int32() })`);
  project.migration("0002_a.ts", `m.renameColumn("t", "a", "b"), m.addColumn("t", "a", m.utf8())`);
  const { stdout } = await project.migrate(["blame", "t.a"]);
  expect(steady(stdout)).toEqual([
    "t.a (utf8); once the pending migrations are applied",
    "0002_a  step 2  pending  created as utf8",
    "",
    "t.b (int32), before that t.a; once the pending migrations are applied",
    "0002_a  step 1  pending  renamed from a to b",
    "0001_t  step 1  pending  created as int32",
  ]);
});

test("without the file of a migration, its changes are unknown", async () => {
  const project = await history();
  rmSync(join(project.folder, "migrations/0003_origin.ts"));
  const { code, stdout } = await project.migrate(["blame", "documents.source.url"]);
  expect(code).toBe(0);
  expect(steady(stdout).at(-1)).toBe("0003_origin has no file in the migrations folder, so its changes are unknown");
});

test.each([
  { args: [], problem: "migrate blame needs a column, such as documents.headline" },
  {
    args: ["documents.headlin"],
    problem: "no migration has a column documents.headlin; did you mean documents.headline?",
  },
  { args: ["documents.nope"], problem: "no migration has a column documents.nope" },
  {
    args: ["document.headlin"],
    problem: "no migration has a column document.headlin; did you mean documents.headline?",
  },
  { args: ["papers.headline"], problem: "no migration has a column papers.headline" },
  { args: ["document"], problem: "no migration has a table document; did you mean documents?" },
  {
    args: ["documents."],
    problem: 'migrate blame "documents.": expected a name at its end; write TABLE or TABLE.COLUMN',
  },
  {
    args: ["documents.a b"],
    problem: 'migrate blame "documents.a b": expected its end where "b" stands; write TABLE or TABLE.COLUMN',
  },
])("$args is refused", async ({ args, problem }) => {
  const project = aProject();
  project.migration("0001_documents.ts", `m.createTable("documents", { id: m.int32(), headline: m.utf8() })`);
  expect(await project.migrate(["blame", ...args])).toEqual({ code: 2, stdout: "", stderr: `${problem}\n` });
});
