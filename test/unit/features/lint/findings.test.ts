import {
  addColumn,
  alterColumns,
  btree,
  createIndex,
  createTable,
  dropColumn,
  dropTable,
  execute,
  float32,
  float64,
  fts,
  int32,
  int64,
  renameColumn,
  renameTable,
  retypeColumn,
  setNullable,
  struct,
  utf8,
  type Step,
} from "lance-migrate";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import type { Migration } from "../../../../src/migrations/load.ts";
import { checkMigrations } from "../../../../src/features/shared/check-migrations/check-migrations.ts";
import { findingsOf, ruleIds, type FindingsChoice } from "../../../../src/features/lint/findings.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";
import type { Model } from "../../../simulate/target/carry.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";
import type { Target } from "../../../../src/targets/contract/target.ts";
import { aMigration } from "../../../simulate/history.ts";
import { root, temporaryFolder } from "../../../support/project.ts";

interface Given extends FindingsChoice, Pick<Migration, "accepts" | "down"> {
  readonly model?: Model;
}

const table = createTable("t", {
  id: int32().notNull(),
  title: utf8(),
  score: float64(),
  source: struct({ url: utf8() }),
});

/** Old versions of tables are restored, as in a folder, but by a service. */
function targetOf(model: Model): Target {
  const target = memoryTarget({ name: "prod", model, tables: memoryTables() });
  if (model === "service") return target;
  const { capabilities } = target;
  return { ...target, capabilities: { ...capabilities, actions: { ...capabilities.actions, restoreTable: true } } };
}

/** What is said of a migration after one that makes a table, and of one after both, without the word in front. */
async function remarks(steps: readonly Step[], given: Given = {}, more: readonly (readonly Step[])[] = []) {
  const { model = "embedded", accepts, down, ...choice } = given;
  const own = { ...aMigration(2, steps), accepts, down };
  const all = [aMigration(1, [table]), own, ...more.map((one, index) => aMigration(index + 3, one))];
  const target = targetOf(model);
  const source = { list: () => all, load: async ({ version }: { version: number }) => all[version - 1]! };
  const options = { target, ledger: "_migrations", migrations: source, lease: { duration: 30_000, patience: 0 } };
  const { findings } = await findingsOf(await checkMigrations(options, { recordsCalls: true }), choice);
  return findings.map(({ rule, severity, message }) => `${severity} ${rule}: ${message}`);
}

const lossy = `; up asks for consent: if it is meant, write export const accepts = ["lossy"]`;

test.each<{ title: string; steps: readonly Step[]; given?: Given; found: readonly string[] }>([
  {
    title: "a cast that may lose",
    steps: [retypeColumn("t", "score", float32())],
    found: [
      "note full-rewrite: rewrites score in every row of t; see with migrate plan how much that is, and limit it with guards.maxRewriteBytes",
      `warning lossy-cast: t.score may silently lose precision or range: float64 to float32${lossy}`,
    ],
  },
  {
    title: "a cast by an expression that may cut",
    steps: [retypeColumn("t", "score", int64(), { using: "score" })],
    found: [
      expect.stringMatching(/^note full-rewrite: rewrites score in/),
      expect.stringMatching(/^warning lossy-cast: t.score gets score as int64, which may silently truncate values/),
    ],
  },
  {
    title: "a cast that loses nothing",
    steps: [retypeColumn("t", "id", int64())],
    found: [expect.stringMatching(/^note full-rewrite: rewrites id in every row of t;/)],
  },
  {
    title: "a new column with values, beside one without",
    steps: [addColumn("t", "a", int32(), { as: "1" }), addColumn("t", "b", int32())],
    found: [expect.stringMatching(/^note full-rewrite: rewrites a in every row of t;/)],
  },
  {
    title: "an update of every row",
    steps: [execute("t", { update: { title: "'x'" } })],
    found: [
      expect.stringMatching(/^note full-rewrite: rewrites 4 columns in every row of t;/),
      `warning loses-data: values of t.title are overwritten${lossy}`,
    ],
  },
  {
    title: "an update of some",
    steps: [execute("t", { update: { title: "'x'" }, where: "id = 1" })],
    found: [`warning loses-data: values of t.title are overwritten${lossy}`],
  },
  {
    title: "a column that is dropped",
    steps: [dropColumn("t", "title")],
    found: [`warning loses-data: t.title is dropped with its values${lossy}`],
  },
  {
    title: "a column that is dropped, as its file accepts",
    steps: [dropColumn("t", "title")],
    given: { accepts: ["lossy"] },
    found: [],
  },
  {
    title: "a table that is dropped, which nothing brings back",
    steps: [dropTable("t")],
    found: [
      `warning loses-data: t is dropped with its rows; up asks for consent: if it is meant, write export const accepts = ["irreversible"]`,
      `warning not-reversible: down can't undo this: t is dropped with its rows and its versions; write export const down = [ … ] if steps of yours can, or export const accepts = ["irreversible"]`,
    ],
  },
  {
    title: "the same, as its file accepts what is lossy",
    steps: [dropTable("t")],
    given: { accepts: ["lossy"] },
    found: [expect.stringMatching(/^warning not-reversible/)],
  },
  {
    title: "the same, as its file accepts all",
    steps: [dropTable("t")],
    given: { accepts: ["irreversible"] },
    found: [],
  },
  {
    title: "a cast that a service can't roll back",
    steps: [retypeColumn("t", "score", float32())],
    given: { model: "service", accepts: ["lossy"] },
    found: [
      expect.stringMatching(/^note full-rewrite/),
      expect.stringMatching(/^warning not-reversible: down can't undo this: t.score may silently lose precision/),
    ],
  },
  {
    title: "the same, where the file says how",
    steps: [retypeColumn("t", "score", float32())],
    given: { model: "service", accepts: ["lossy"], down: [retypeColumn("t", "score", float64())] },
    found: [expect.stringMatching(/^note full-rewrite/)],
  },
  {
    title: "a table that a service can't drop again",
    steps: [createTable("u", { a: int32() })],
    given: { model: "service" },
    found: [],
  },
  {
    title: "not null without a look",
    steps: [setNullable("t", "source.url", false), setNullable("t", "title", false)],
    found: [
      `note not-null-unchecked: a null in t.source.url stops this while it runs, and no step before it in this migration fills them; put before it execute("t", { update: { "source": … }, where: "\`source\`.\`url\` is null" }), which sets source as a whole, or check with migrate plan whether there are any`,
      expect.stringContaining(
        `put before it execute("t", { update: { "title": "''" }, where: "\`title\` is null" }), in which '' is the value`,
      ),
    ],
  },
  {
    title: "not null of what was filled, or is gone",
    steps: [
      execute("t", { update: { title: "''" }, where: "title is null" }),
      execute("t", { delete: "score is null" }),
      alterColumns("t", [
        { path: "title", nullable: false },
        { path: "score", nullable: false },
      ]),
    ],
    given: { accepts: ["lossy"] },
    found: [],
  },
  {
    title: "not null of what was filled under the name that it had then",
    steps: [
      addColumn("t", "other", utf8()),
      execute("t", { update: { title: "''" }, where: "title is null" }),
      alterColumns("t", [
        { path: "title", rename: "other" },
        { path: "other", rename: "title" },
      ]),
      renameColumn("t", "other", "headline"),
      setNullable("t", "headline", false),
      setNullable("t", "title", false),
    ],
    given: { accepts: ["lossy"] },
    found: [expect.stringMatching(/^note not-null-unchecked: a null in t.title stops this/)],
  },
  {
    title: "not null of what was filled while the table had another name",
    steps: [
      execute("t", { update: { title: "''" }, where: "title is null" }),
      renameTable("t", "u"),
      setNullable("u", "title", false),
    ],
    given: { model: "namespace", accepts: ["lossy"] },
    found: [],
  },
  {
    title: "not null of a field, by which rows were deleted",
    steps: [execute("t", { delete: "source.url is null" }), setNullable("t", "source.url", false)],
    given: { accepts: ["lossy"] },
    found: [],
  },
  {
    title: "not null of a field, where rows were deleted by its column",
    steps: [execute("t", { delete: "source is null" }), setNullable("t", "source.url", false)],
    given: { accepts: ["lossy"] },
    found: [expect.stringMatching(/^note not-null-unchecked: a null in t.source.url stops this/)],
  },
  {
    title: "not null of a name that SQL takes in backticks only",
    steps: [renameColumn("t", "title", "my col"), setNullable("t", "my col", false)],
    found: [expect.stringContaining(`execute("t", { update: { "my col": "''" }, where: "\`my col\` is null" }), in`)],
  },
  {
    title: "not null of what was filled with nulls",
    steps: [execute("t", { update: { title: "null" }, where: "id = 1" }), setNullable("t", "title", false)],
    given: { accepts: ["lossy"] },
    found: [expect.stringMatching(/^note not-null-unchecked: a null in t.title/)],
  },
  {
    title: "all of it in a table of the migration's own",
    steps: [
      createTable("u", { a: float64(), b: int32() }),
      retypeColumn("u", "a", float32()),
      setNullable("u", "a", false),
      dropColumn("u", "b"),
    ],
    found: [],
  },
  {
    title: "a new name for what an index is on, and what is around it",
    steps: [
      createIndex("t", "title", fts()),
      createIndex("t", "source.url", btree(), { name: "urls" }),
      renameColumn("t", "title", "headline"),
      renameColumn("t", "source", "origin"),
      renameColumn("t", "score", "points"),
    ],
    found: [
      "note renames-indexed-column: index title_idx of t keeps its name and is on headline from here on, and the engine refuses queries that name title: change those together with this",
      "note renames-indexed-column: index urls of t keeps its name and is on origin.url from here on, and the engine refuses queries that name source.url: change those together with this",
    ],
  },
])("lint says of $title what happens and the way out", async ({ steps, given, found }) => {
  expect(await remarks(steps, given)).toEqual(found);
});

const declaredAs = (columns: string) => {
  const folder = temporaryFolder();
  const schema = join(folder, "schema.mjs");
  const from = JSON.stringify(pathToFileURL(join(root, "src/index.ts")).href);
  writeFileSync(
    schema,
    `import { defineSchema, utf8 } from ${from};\nexport default defineSchema({ t: { ${columns} } });\n`,
  );
  return schema;
};
const renamed = [renameColumn("t", "title", "headline")];

test("a new name for what schema.ts declares under the old one is a warning", async () => {
  expect(await remarks(renamed, { schema: declaredAs("title: utf8()") })).toEqual([
    "warning renames-declared-column: schema.mjs still declares t.title, and not headline: rename it there, and in what uses it",
  ]);
});

test("it is about the name that the column has in the end, and silent where it is dropped", async () => {
  const schema = declaredAs("title: utf8()");
  const says = (name: string) => [
    `warning renames-declared-column: schema.mjs still declares t.title, and not ${name}: rename it there, and in what uses it`,
  ];
  const again = [renameColumn("t", "headline", "heading")];
  expect(await remarks(renamed, { schema }, [again])).toEqual(says("heading"));
  expect(await remarks([...renamed, ...again], { schema })).toEqual(says("heading"));
  const dropped = [dropColumn("t", "headline")];
  const remarksOfDropped = await remarks(renamed, { schema }, [dropped]);
  expect(remarksOfDropped.filter((one) => one.includes("renames-declared"))).toEqual([]);
  expect(await remarks(renamed, { schema: declaredAs("heading: utf8()") }, [again])).toEqual([]);
});

test("it is none where the new one is declared, where a later migration brings the old one back, and where nothing is declared", async () => {
  expect(await remarks(renamed, { schema: declaredAs("headline: utf8()") })).toEqual([]);
  const back = [addColumn("t", "title", utf8())];
  expect(await remarks(renamed, { schema: declaredAs("title: utf8()") }, [back])).toEqual([]);
  expect(await remarks(renamed, { schema: join(temporaryFolder(), "schema.ts") })).toEqual([]);
});

test("a schema that can't be read is a problem, and one that is about something else none", async () => {
  const schema = declaredAs("title: 5");
  expect(await remarks(renamed, { schema })).toEqual([
    expect.stringMatching(/^error ERR_SCHEMA_INVALID: schema.mjs: t.columns.title.type must be a type/),
  ]);
  writeFileSync(schema, "throw new Error('about something else');\n");
  expect(await remarks(renamed, { schema })).toEqual([]);
});

test("a rule says what the configuration wants of it, or nothing", async () => {
  const steps = [dropColumn("t", "title")];
  expect(await remarks(steps, { rules: { "loses-data": "error" } })).toEqual([
    expect.stringMatching(/^error loses-data/),
  ]);
  expect(await remarks(steps, { rules: { "loses-data": "off" } })).toEqual([]);
});

test("of migrations that are not to be shown, only problems are reported", async () => {
  const more = [[dropColumn("t", "score")], [dropColumn("t", "nix")]];
  const steps = [dropColumn("t", "title")];
  const [drop, problem] = [expect.stringMatching(/^warning loses-data/), expect.stringMatching(/^error ERR_STEP_IMPO/)];
  const after = (number: number) => ({ isShown: ({ version }: { version: number }) => version > number });
  expect(await remarks(steps, after(1), more)).toEqual([drop, drop, problem]);
  expect(await remarks(steps, after(2), more)).toEqual([drop, problem]);
  expect(await remarks(steps, after(4), more)).toEqual([problem]);
});

test("every rule has a name of its own, in kebab case, and stands in the documentation", () => {
  expect(new Set(ruleIds).size).toBe(ruleIds.length);
  expect(ruleIds.filter((id) => !/^[a-z]+(-[a-z]+)+$/.test(id))).toEqual([]);
  const text = readFileSync(join(root, "docs/lint.md"), "utf8");
  expect(ruleIds.filter((id) => !text.includes(`| \`${id}\` |`))).toEqual([]);
});
