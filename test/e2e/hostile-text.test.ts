// oxlint-disable no-control-regex -- control characters are what this looks for
/** What comes from elsewhere is printed as plain text: no terminal and no CI server obeys any of it, whatever the command. */
import { once } from "node:events";
import { readFileSync, renameSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { onTestFinished, beforeAll, describe, expect, test } from "vitest";
import { commandNames } from "../../src/main/commands/registry.ts";
import { printable } from "../../src/cli/command/printable.ts";
import { serve } from "../rest/servers.ts";
import { arrow, field } from "../support/foreign.ts";
import { lacks } from "../support/needs.ts";
import { startNode, root, type Finished, onStdout } from "../support/project.ts";
import { isLong } from "../support/rounds.ts";
import { lancedb } from "../support/tables.ts";
import { manyProjects, type SmallProject } from "./support/many-projects.ts";
import { atTerminal } from "./support/terminal.ts";

/** Colours, the window's title, a bell, C1, bidi, invisible characters, other line breaks. */
const marks = "\u001b[31m\u001b]0;owned\u0007\u009b2J\u202eright\u2066\u200b\u00ad\u{e0041}\u115f\u2028\u0085";
const evil = `::error ::a${marks}\r\n::error file=a::b\n##vso[task]c ##[error]d\r::warning::e\n \u00a0::notice::f`;
/** What the engine and this tool let be the name of a column. */
const column = evil.replace(/[\u0000-\u001f]/g, "");

const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/u;
const command = /^\s*::|##\w*\[/;

function expectPlain({ stdout, stderr }: Pick<Finished, "stdout" | "stderr">, allowed?: RegExp): void {
  const lines = [stdout, stderr].flatMap((text) => text.split("\n")).filter((line) => allowed?.test(line) !== true);
  expect(lines.filter((line) => unprintable.test(line) || command.test(line)).map(printable)).toEqual([]);
}

const quoted = JSON.stringify;
const module = (up: string, down = "") => `import * as m from "lance-migrate";\n\nexport const up = ${up};\n${down}`;
const literal = `'${evil}'`;

const columns = `{ id: m.int32(), title: m.utf8(), ${quoted(column)}: m.timestamp("ms", "UTC") }`;
const own = {
  "migrations/0001_documents.ts": module(`[
    m.createTable("documents", { id: m.int32(), title: m.utf8(), ${quoted(column)}: m.utf8() }),
    m.setMetadata("documents", "id", { ${quoted(evil)}: ${quoted(evil)} }),
  ]`),
};
const pending = {
  "migrations/0002_more.ts": module(
    `[
    m.addColumn("documents", ${quoted(`more${column}`)}, m.utf8(), { as: ${quoted(`concat(title,\n${literal})`)} }),
    m.execute("documents", { delete: ${quoted(`title =\n${literal}`)} }),
    m.renameColumn("documents", ${quoted(column)}, ${quoted(`new${column}`)}),
  ]`,
    `export const down = [
  m.renameColumn("documents", ${quoted(`new${column}`)}, ${quoted(column)}),
  m.dropColumn("documents", ${quoted(`more${column}`)}),
];\n`,
  ),
  "schema.ts": `import * as m from "lance-migrate";
export default m.defineSchema({ documents: ${columns}, other: { ${quoted(`x${column}`)}: m.utf8() } });
`,
};

const { project } = manyProjects();
const waits = ["--wait", "0", "--lease", "1"];

/** How each command is called, so that it gets as far as it can. */
const invocations: Readonly<Record<string, readonly (readonly string[])[]>> = {
  up: [waits, ["--dry-run"]],
  down: [waits, ["--dry-run"]],
  status: [[]],
  plan: [[], ["--down"]],
  prepare: [waits, ["--discard", ...waits]],
  rehearse: [["--rows", "5"]],
  history: [[]],
  blame: [["documents"], [`documents."${column}"`]],
  verify: [[], ["--ledger"], ["--write"]],
  repair: [waits],
  resolve: [["--reverted", "1", ...waits]],
  prune: [[]],
  lint: [[]],
  new: [["more", "--rename", `documents.title:"${column}"`]],
  build: [[], ["--check"]],
  types: [["--out", "db.ts"]],
  contract: [["--application", "a", "--release", "1"]],
  generate: [["more"], ["--check"]],
  rebase: [["--onto", evil]],
  squash: [["--to", "2", "--dry-run"]],
  init: [["--yes"]],
  push: [["--dry-run"]],
  pull: [[]],
  baseline: [["--dry-run", ...waits]],
  doctor: [[]],
  inspect: [[], ["--format", "schema"], ["--format", "mermaid"]],
  diff: [["1", "local"]],
  reset: [["--yes", ...waits]],
  report: [["--out", "report.html"]],
};
// serve has a test of its own; dev runs generate and up; completion prints nothing that comes from outside, and what it offers to a shell is tested
// in completion.test.ts.
const apart = ["serve", "completion", "dev"];
const names = commandNames;

test("every command is called", () => {
  expect([...Object.keys(invocations), ...apart].toSorted()).toEqual(names.toSorted());
});

/** Where commands run, and in which of their outputs something foreign must be found, as otherwise nothing is tested. */
interface Scene {
  readonly title: string;
  readonly at: (files: Readonly<Record<string, string>>) => SmallProject;
  readonly files: Readonly<Record<string, string>>;
  readonly shows: readonly string[];
}

/** Databases that the scenes start from. */
let applied: SmallProject;
let changed: SmallProject;
let rewritten: SmallProject;
let foreign: SmallProject;

beforeAll(async () => {
  applied = project(own);
  expect(await applied.migrate(["up"])).toMatchObject({ code: 0 });

  changed = project({});
  changed.copyDatabase(applied);
  const folder = join(changed.folder, ".lancedb");
  const db = await lancedb.connect(folder);
  const strange = new arrow.Schema(
    [field("id", new arrow.Int32()), field(evil, new arrow.TimestampMillisecond(marks), true, { [evil]: evil })],
    new Map([[evil, evil]]),
  );
  await db.createEmptyTable("documents", strange, { mode: "overwrite" });

  foreign = project({});
  const other = await lancedb.connect(join(foreign.folder, ".lancedb"));
  const legal = new arrow.Schema([field(column, new arrow.TimestampMillisecond("UTC"), true, { [evil]: evil })]);
  await other.createEmptyTable("documents", legal);

  rewritten = project({});
  rewritten.copyDatabase(applied);
  const ledger = await lancedb.connect(join(rewritten.folder, ".lancedb"));
  await (await ledger.openTable("_migrations")).update({ values: { by: evil, detail: evil } });
  await ledger.createEmptyTable("stranger", strange);
  renameSync(join(rewritten.folder, ".lancedb/stranger.lance"), join(rewritten.folder, `.lancedb/${evil}.lance`));
});

function on(database: () => SmallProject) {
  return (files: Readonly<Record<string, string>>) => {
    const made = project(files);
    made.copyDatabase(database());
    return made;
  };
}

const scenes: readonly Scene[] = [
  {
    title: "names, SQL and metadata of migrations",
    at: on(() => applied),
    files: { ...own, ...pending },
    shows: ["up", "plan", "rehearse", "generate", "blame"],
  },
  {
    title: "columns and metadata that others changed",
    at: on(() => changed),
    files: { ...own, ...pending },
    shows: ["up", "plan", "verify", "down", "generate"],
  },
  {
    title: "records of the ledger and the name of a table that others wrote",
    at: on(() => rewritten),
    files: { ...own, ...pending },
    shows: ["history", "doctor"],
  },
  {
    title: "a database that others made",
    at: on(() => foreign),
    files: {},
    shows: ["pull"],
  },
];

const ways = [[], ["--verbose"], ["--json"]] as const;

/** For each commit, a command runs where it must show something foreign, and beside one of the services. */
const isTried = (command: number, place: number, places: number) => isLong || command % places === place;
const called = Object.entries(invocations);

describe.each(scenes)("with $title", ({ at, files, shows }) => {
  const shown = new Set<string>();

  test.each(called.filter(([name]) => isLong || shows.includes(name)))("%s prints plain text", async (name, calls) => {
    for (const [turn, args] of calls.entries()) {
      for (const way of calls.length > 1 ? [ways[turn % 2]!, ways[2]] : ways.slice(1)) {
        const finished = await at(files).migrate([name, ...args, ...way]);
        expectPlain(finished);
        if (way[0] === "--json") for (const line of finished.stdout.trim().split("\n")) JSON.parse(line);
        else if (/\\u(001b|202e)/.test(finished.stdout + finished.stderr)) shown.add(name);
      }
    }
  });

  test("what is foreign was shown", () => {
    expect(shows.filter((name) => !shown.has(name))).toEqual([]);
  });
});

const list = quoted({ tables: ["documents", evil, `::error::${evil}`] });
const type = { type: `::error::${evil}` };
const described = quoted({
  version: 1,
  schema: { fields: [{ name: evil, type, nullable: true, metadata: { [evil]: evil } }] },
});

const services: readonly (readonly [string, (path: string) => readonly [number, string]])[] = [
  ["refuses", () => [500, quoted({ error: evil })]],
  ["answers in another format", () => [200, evil]],
  ["lists strange tables", (path) => [200, /tables\?|\/tables$|list/.test(path) ? list : described]],
];

describe.each(services.map((service, place) => [...service, place] as const))(
  "with a service that %s",
  (_, answer, place) => {
    test.each(called.filter((_, index) => isTried(index, place, services.length)))(
      "%s prints plain text",
      async (name, [args]) => {
        const { url } = await serve((response, { path }) => {
          const [status, body] = answer(path);
          response.writeHead(status, { "content-type": "application/json" }).end(body);
        });
        const target = quoted({ kind: "rest", endpoint: url, apiKey: "sk-any-key-at-all", answerSeconds: 1 });
        const config = `export default { leaseSeconds: 1, waitSeconds: 0, targets: { ${quoted(evil)}: ${target} }, target: ${quoted(evil)} };\n`;
        const where = project({ ...own, ...pending, "migrate.config.ts": config });
        expectPlain(await where.migrate([name, ...args!, "--verbose", "--timeout", "20"]));
      },
    );
  },
);

test("of many databases, the errors are plain text", async () => {
  const { url } = await serve((response) => {
    response.writeHead(500, { "content-type": "application/json" }).end(quoted({ error: evil }));
  });
  const target = quoted({ kind: "rest", endpoint: url, apiKey: "sk-any-key-at-all", databases: ["a", "b"] });
  const where = project({
    ...own,
    "migrate.config.ts": `export default { targets: { ${quoted(evil)}: ${target} } };\n`,
  });
  for (const call of [["status"], ["report", "--fleet"]])
    for (const way of ways) {
      const finished = await where.migrate([...call, ...way]);
      expectPlain(finished);
      expect(finished.stdout + finished.stderr).toContain("\\u202e");
    }
  const page = readFileSync(join(where.folder, "report.html"), "utf8");
  expect(page).toContain("\\u202e");
  expect(page.split("\n").filter((line) => unprintable.test(line))).toEqual([]);
});

test("files with such names are reported, and as annotations for GitHub Actions too", async () => {
  const bad = evil.replaceAll("/", "");
  const where = project({ ...own, [`migrations/0002_a${bad}.ts`]: module("[]"), [`migrations/0003_b${bad}`]: "" });
  const plain = await where.migrate(["lint"]);
  expectPlain(plain);
  expect(plain).toMatchObject(onStdout(4, "is not a valid name for a migration file"));
  const github = await where.migrate(["lint", "--github"]);
  expectPlain(github, /^::error file=migrations\/0002_a%3A%3Aerror/);
  expect(github.stdout.match(/^::/gm)).toHaveLength(1);
});

test("an error that a migration throws stays on its lines, with its stack and its cause", async () => {
  const thrown = `throw new Error(${quoted(evil)}, { cause: new Error(${quoted(evil)}) });\n`;
  const where = project({ "migrations/0001_documents.ts": `${thrown}export const up = [];\n` });
  for (const args of [["up"], ["up", "--verbose"], ["lint", "--verbose"]]) {
    const finished = await where.migrate(args);
    expectPlain(finished);
    expect(finished).toMatchObject({ code: 4, stdout: expect.anything() });
  }
  const late = project({ "migrations/0001_documents.ts": `setTimeout(() => { ${thrown} }); ${module("[]")}` });
  expectPlain(await late.start(["up", "--verbose"]).finished);
});

test("usage errors repeat what was typed as plain text", async () => {
  const where = project(own);
  for (const args of [[evil], ["up", `--${evil}`], ["plan", "--to", evil], ["status", "--target", evil], ["--", evil]])
    expectPlain(await where.migrate(args));
});

test("migrate serve logs plain text", async () => {
  const { folder } = project({});
  const args = [join(root, "dist/bin.js"), "serve", "--data", join(folder, column), "--port", "0"];
  const running = startNode(args, folder, { MIGRATE_API_KEY: "sk-live-4711-never-shown" });
  onTestFinished(() => void running.process.kill("SIGKILL"));
  const [line] = (await Promise.race([
    once(running.process.stdout!, "data"),
    running.finished.then(Object.values),
  ])) as [string];
  const port = Number(/:(\d+)\s*$/.exec(line)![1]);
  for (const path of [
    `/v1/\u009b2J\u0085::error::x`,
    `/${encodeURIComponent(evil)}`,
    "::error::/x",
    "/v1/##vso[task]x",
  ])
    await new Promise<void>((done) => {
      const socket = connect(port, "127.0.0.1", () =>
        socket.end(
          Buffer.from(`::error ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\nGET ${path}`, "latin1"),
        ),
      );
      socket
        .on("error", () => {})
        .on("close", () => done())
        .resume();
      const get = connect(port, "127.0.0.1", () =>
        get.end(Buffer.from(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`, "latin1")),
      );
      get.on("error", () => {}).resume();
    });
  running.process.kill("SIGTERM");
  const finished = await running.finished;
  expectPlain(finished);
  expect(finished.stdout).toContain("\\u202e");
});

test.skipIf(lacks("terminal"))("a question at a terminal is plain text", async () => {
  const schema = pending["schema.ts"].replace(
    columns,
    `{ id: m.int32(), title: m.utf8(), ${quoted(`new${column}`)}: m.utf8() }`,
  );
  const where = project({ ...own, "schema.ts": schema });
  where.copyDatabase(applied);
  const { shown } = await atTerminal(where, "generate more", /1 to 3: /, ["2\n"]);
  expect(shown).toContain("1 to 3: ");
  expect(shown.match(/\u001b\]|[\u0080-\u009f]|\p{Cf}|[\u2028\u2029]/gu)).toBe(null);
});
