/** Whatever is wrong with the input: one sentence, the right exit code, and nothing written. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { lancedb } from "../support/tables.ts";
import { manyProjects, type SmallProject } from "./support/many-projects.ts";

vi.setConfig({ maxConcurrency: 3 });

interface BadInput {
  /** Completes the sentence "… is refused". */
  readonly title: string;
  readonly args?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  /** What the files can't say; runs in the project's folder. */
  readonly arrange?: (folder: string) => void | Promise<void>;
  readonly code: 1 | 2 | 4 | 6;
  /** A part of the sentence. */
  readonly says: string;
}

const documents = `m.createTable("documents", {
  id: m.int32().notNull(),
  title: m.utf8(),
  score: m.float32(),
  source: m.struct({ url: m.utf8(), fetched: m.utf8() }),
  embedding: m.vector(8),
  tags: m.list(m.utf8()),
})`;

const module = (up: string) => `import * as m from "lance-migrate";\n\nexport const up = ${up};\n`;
const good = { "migrations/0001_documents.ts": module(`[${documents}]`) };
const config = (text: string) => ({ ...good, "migrate.config.ts": `export default ${text};\n` });
const target = (text: string) => config(`{ targets: { local: ${text} } }`);
const uri = (text: string) => target(`{ kind: "lance", uri: ${JSON.stringify(text)} }`);

const usage: readonly BadInput[] = [
  { title: "no command", args: ["--quiet"], code: 2, says: "give a command" },
  ...[
    ["apply", "up"],
    ["rollback", "down"],
    ["create", "new"],
    ["drift", "verify or migrate generate --check"],
    ["describe", "inspect"],
    ["watch", "dev"],
    ["check", "lint or migrate verify"],
    ["introspect", "pull"],
    ["redo", "down, then migrate up"],
    ["db:rollback", "down"],
    ["migrate:latest", "up"],
    ["make:migration", "new"],
    ["migrate deploy", "up"],
    ["db push", "push"],
    ["migrate absent", "up", "migrate"],
  ].map(([verb, ours, typed = verb]) => ({
    title: `${verb}, a verb of other tools`,
    args: verb!.split(" "),
    code: 2 as const,
    says: `there is no command ${typed}; migrate ${ours} does that`,
  })),
  { title: "an unknown command", args: ["frobnicate"], code: 2, says: "there is no command frobnicate" },
  {
    title: "a mistyped command",
    args: ["sttus"],
    code: 2,
    says: "there is no command sttus; did you mean status?",
  },
  { title: "a mistyped command with a flag", args: ["plna", "--to", "1"], code: 2, says: "did you mean plan?" },
  {
    title: "a number that stands alone",
    args: ["down", "2"],
    code: 2,
    says: "migrate down takes a number only with a flag: --steps 2 for how many migrations, --to 2 for the last one",
  },
  { title: "two commands", args: ["up", "status"], code: 2, says: "status; see migrate up --help" },
  { title: "an unknown flag", args: ["up", "--frobnicate"], code: 2, says: "frobnicate; see migrate up --help" },
  {
    title: "a flag that is named like the step",
    args: ["new", "x", "--rename-column=a.b:c"],
    code: 2,
    says: "no flag --rename-column; did you mean --rename?",
  },
  {
    title: "a contract given twice",
    args: ["plan", "--contract=a.json", "--contract=b.json"],
    code: 2,
    says: "--contract must be given once, with several paths separated by commas",
  },
  { title: "a mistyped flag", args: ["up", "--acept=lossy"], code: 2, says: "no flag --acept; did you mean --accept?" },
  { title: "an unknown short flag", args: ["up", "-x"], code: 2, says: "x; see migrate up --help" },
  { title: "a flag in camel case", args: ["up", "--dryRun"], code: 2, says: "dryRun" },
  { title: "an extra word behind --", args: ["up", "--", "0001"], code: 2, says: "0001" },
  { title: "--to twice", args: ["up", "--to", "1", "--to", "2"], code: 2, says: "--to is given twice" },
  { title: "a short one with a value", args: ["up", "-v=much"], code: 2, says: "--verbose takes no value" },
  { title: "--to without a value", args: ["up", "--to"], code: 2, says: "--to" },
  {
    title: "--to with a file name",
    args: ["up", "--to", "0001_documents"],
    code: 2,
    says: "--to must be the number",
  },
  { title: "--to a number that is not there", args: ["up", "--to", "99"], code: 2, says: "there is no such migration" },
  {
    title: "--wait with a word",
    args: ["up", "--wait", "x"],
    code: 2,
    says: "--wait must be a number of seconds from 0 to 86400 (a day)",
  },
  { title: "--dry-run with a value", args: ["up", "--dry-run=please"], code: 2, says: "--dry-run takes no value" },
  { title: "an unknown --target", args: ["up", "--target", "moon"], code: 2, says: 'no target "moon"' },
  { title: "a --target that every object has", args: ["up", "-t", "toString"], code: 2, says: 'no target "toString"' },
  { title: "a --config that is missing", args: ["up", "--config", "absent.ts"], code: 2, says: "absent.ts" },
  { title: "a --config that is a folder", args: ["up", "--config", "migrations"], code: 2, says: "migrations" },
  {
    title: "verify with a table's name",
    args: ["verify", "documents"],
    code: 2,
    says: "migrate verify takes a name only with --write",
  },
  { title: "repair -y", args: ["repair", "-y"], code: 2, says: "y; see migrate repair" },
  { title: "repair --to no action", args: ["repair", "--to", "3.0"], code: 2, says: "--to must be the number" },
  { title: "new without a name", args: ["new"], code: 2, says: "migrate new needs a name" },
  {
    title: "new with a path as its name",
    args: ["new", "../evil"],
    code: 2,
    says: "is not a valid name for a migration",
  },
  { title: "new with a name of 300 letters", args: ["new", "a".repeat(300)], code: 2, says: "" },
];

const configuration: readonly BadInput[] = [
  { title: "a syntax error", files: config("{ targets: "), code: 2, says: "migrate.config.ts can't be loaded" },
  { title: "a missing migrations folder", files: config("{ migrations: 'absent' }"), code: 2, says: "does not exist" },
  {
    title: "a migrations folder that is a file",
    files: config("{ migrations: 'package.json' }"),
    code: 2,
    says: "is a file",
  },
  { title: "a uri with a NUL", files: uri("a\0b"), code: 2, says: "NUL" },
  {
    title: "a file format that loses nulls",
    files: target(`{ kind: "lance", uri: "a", newTables: { dataStorageVersion: "legacy" } }`),
    code: 2,
    says: 'newTables.dataStorageVersion must be one of "2.0", "2.1", "2.2"',
  },
  {
    title: "stable row ids that are a text",
    files: target(`{ kind: "lance", uri: "a", newTables: { stableRowIds: "true" } }`),
    code: 2,
    says: "newTables.stableRowIds must be true or false",
  },
  {
    title: "a uri under a file",
    files: { ...uri("data/db"), data: "a file" },
    code: 6,
    says: "target local can't be reached",
  },
  {
    title: "a uri of a table",
    files: uri("data/people.lance"),
    arrange: async (folder) =>
      void (await (await lancedb.connect(join(folder, "data"))).createTable("people", [{ id: 1 }])),
    code: 6,
    says: "people.lance is the folder of a table; the database is ",
  },
  {
    title: "a thrown object",
    files: { ...good, "migrate.config.ts": "throw { a: 1 }" },
    code: 2,
    says: "can't be loaded",
  },
  {
    title: "an await without end",
    args: ["up", "--load-timeout", "2"],
    files: { ...good, "migrate.config.ts": "await new Promise(() => {});\nexport default {};" },
    code: 2,
    says: "migrate.config.ts",
  },
  { title: "JSON", args: ["up", "-c", "package.json"], code: 2, says: "package.json" },
];

const file = (name: string) => ({ [`migrations/${name}`]: module(`[${documents}]`) });
const noName = { code: 4, says: "is not a valid name for a migration file" } as const;

const fileNames: readonly BadInput[] = [
  { title: "a name without a number", files: file("documents.ts"), ...noName },
  {
    title: "a link that leads nowhere",
    arrange: (folder) => symlinkSync("absent.ts", join(folder, "migrations", "0002_link.ts")),
    code: 4,
    says: "0002_link.ts can't be loaded",
  },
];

const text = (source: string) => ({ "migrations/0001_bad.ts": source });
const list = (items: string) => text(module(items));

const unawaited = (what: string, source: string, says: string): BadInput => ({
  title: `${what} and that nothing waits for`,
  files: text(`${source}\nawait new Promise((done) => setTimeout(done, 1000));\nexport const up = [];`),
  code: 1,
  says: `an error was thrown that nothing awaits: ${says}; where a migration or the configuration started it, await it there`,
});

const modules: readonly BadInput[] = [
  { title: "an empty file", files: text(""), code: 4, says: "0001_bad.ts exports no up" },
  { title: "bytes that are no text", files: text("\u0000\u0001\u0002"), code: 4, says: "0001_bad.ts can't be loaded" },
  { title: "a throw without words", files: text("throw new Error()"), code: 4, says: "0001_bad.ts can't be loaded" },
  { title: "a thrown undefined", files: text("throw undefined"), code: 4, says: "0001_bad.ts can't be loaded" },
  { title: "a thrown object", files: text("throw { a: 1 }"), code: 4, says: "0001_bad.ts can't be loaded" },
  {
    title: "a call of what is not there",
    files: list("[m.addColunm('a')]"),
    code: 4,
    says: "m.addColunm is not a function",
  },
  unawaited("a timer that throws", `setTimeout(() => { throw new Error("no luck") });`, "no luck"),
  unawaited("a promise that fails with an object", `void Promise.reject({ status: 7, more: {} });`, `{"status":7}`),
  unawaited("a promise that fails without a word", `void Promise.reject();`, "what was thrown has no message"),
  {
    title: "an await without end",
    args: ["up", "--load-timeout", "2"],
    files: text("await new Promise(() => {});\nexport const up = [];"),
    code: 4,
    says: "0001_bad.ts",
  },
];

const step = (source: string) => list(`[${documents}, ${source}]`);
const badStep = (title: string, source: string, says: string): BadInput => ({
  title,
  files: step(source),
  code: 4,
  says,
});
const steps: readonly BadInput[] = [
  badStep("a number for a step", "5", "0001_bad.ts, step 2: is not a step"),
  badStep("a builder that was not called", "m.renameColumn", "0001_bad.ts, step 2"),
  badStep(
    "a step that contains itself",
    `(() => { const s = { ...m.renameColumn("documents", "title", "b") }; s.self = s; return s; })()`,
    "0001_bad.ts, step 2 (renameColumn)",
  ),
  badStep("a column that is a text", `m.createTable("other", { a: "int64" })`, "a.type must be a type such as int64()"),
  badStep("an alteration that is null", `m.alterColumns("documents", [null])`, "0001_bad.ts, step 2 (alterColumns)"),
];

const names: readonly BadInput[] = [
  badStep(
    "a table that leads out of the folder",
    `m.createTable("../evil", { a: m.int32() })`,
    "may hold only letters",
  ),
  badStep(
    "a column with half a character",
    `m.createTable("other", { "a\\ud800": m.int32() })`,
    "0001_bad.ts, step 2 (createTable)",
  ),
];

interface Fold {
  readonly title: string;
  readonly step: string;
  readonly says: string;
}

/** A second migration over a database in which the first is applied. */
const folds: readonly Fold[] = [
  { title: "a mistyped table", step: `m.renameColumn("docments", "a", "b")`, says: "did you mean documents?" },
  { title: "the ledger's columns", step: `m.renameColumn("_migrations", "by", "who")`, says: "is the ledger's" },
];

const tables: readonly BadInput[] = [
  {
    title: "a file in a table's place",
    files: { ...good, ".lancedb/documents.lance": "not a table" },
    code: 6,
    says: "target local can't be reached",
  },
  {
    title: "a table with a broken manifest",
    files: { ...good, ".lancedb/documents.lance/_versions/1.manifest": "not a manifest" },
    code: 6,
    says: "documents",
  },
  {
    title: "another table in the ledger's place",
    arrange: async (folder) => {
      const db = await lancedb.connect(join(folder, ".lancedb"));
      await db.createTable("_migrations", [{ version: 1, name: "somebody else's" }]);
      db.close();
    },
    code: 4,
    says: "if it is another table, give the ledger another name",
  },
  {
    title: "a table that is there already",
    arrange: async (folder) => {
      const db = await lancedb.connect(join(folder, ".lancedb"));
      await db.createTable("documents", [{ id: 1 }]);
      db.close();
    },
    code: 4,
    says: "table documents is not as the ledger records: it exists, but should not",
  },
];

const { project } = manyProjects();

/** One sentence in prose, as somebody who has to act on it wants it. */
function expectOneSentence(stderr: string, says: string): void {
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr).toContain(says);
  expect(stderr).not.toMatch(/undefined|\[object|\bat file:|node:internal|internal error|\bNaN,/);
  expect(stderr).not.toMatch(
    /ZodError|Invalid input|expected \w+, received|Unrecognized key|Too (big|small)|: undefined/,
  );
  expect(stderr).not.toMatch(/: *;|: *\n| {2}|: null\b/);
  expect(stderr.length).toBeLessThan(400);
}

async function expectRefused({ args = ["up"], files = good, arrange, code, says }: BadInput): Promise<void> {
  const bad = project(files);
  await arrange?.(bad.folder);
  const before = bad.tree();
  const { stdout, stderr, code: exitCode } = await bad.migrate(args);
  expectOneSentence(stderr, says);
  expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: code });
  expect(bad.tree()).toEqual(before);
}

describe("the command line", () => {
  test.concurrent.each(usage)("$title is refused", expectRefused);
});

describe("the configuration", () => {
  test.concurrent.each(configuration)("$title is refused", expectRefused);
});

describe("file names", () => {
  test.concurrent.each(fileNames)("$title is refused", expectRefused);
});

describe("migration modules", () => {
  test.concurrent.each(modules)("$title is refused", expectRefused);
});

describe("steps", () => {
  test.concurrent.each(steps)("$title is refused", expectRefused);
});

describe("names", () => {
  test.concurrent.each(names)("$title is refused", expectRefused);
});

describe("tables", () => {
  test.concurrent.each(tables)("$title is refused", expectRefused);
});

describe("a step over what is applied", () => {
  let applied: SmallProject;
  beforeAll(async () => {
    applied = project(good);
    expect(await applied.migrate(["up"])).toMatchObject({ code: 0 });
  });

  test.concurrent.each(folds)("$title is refused", async ({ step, says }) => {
    const bad = project({ ...good, "migrations/0002_bad.ts": module(`[${step}]`) });
    bad.copyDatabase(applied);
    const before = bad.tree();
    const { stdout, stderr, code } = await bad.migrate(["up"]);
    expectOneSentence(stderr, says);
    expect(stderr).toContain("0002_bad.ts, step 1");
    expect({ stdout, code }).toEqual({ stdout: "", code: 4 });
    expect(bad.tree()).toEqual(before);
  });
});

describe("with --json", () => {
  const some = [
    usage[0]!,
    usage.find(({ title }) => title === "an unknown flag")!,
    usage.find(({ title }) => title === "--to with a file name")!,
    configuration[0]!,
    fileNames[0]!,
    modules[0]!,
    steps[0]!,
    names[0]!,
  ];
  test.concurrent.each(some)("$title is an error event on stdout and a sentence on stderr", async (bad) => {
    const { args = ["up"], files = good, code, says } = bad;
    const finished = await project(files).migrate([...args, "--json"]);
    expectOneSentence(finished.stderr, says);
    expect(finished.stdout).toMatch(/^[^\n]+\n$/);
    expect(JSON.parse(finished.stdout)).toEqual({
      event: "error",
      code: expect.stringMatching(/^ERR_[A-Z_]+$/),
      message: finished.stderr.trimEnd(),
    });
    expect(finished.code).toBe(code);
  });
});
