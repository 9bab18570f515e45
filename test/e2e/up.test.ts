/** `migrate up` on the embedded engine, with applications that write in between. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test, describe } from "vitest";
import { lacks } from "../support/needs.ts";
import { aProject, type Project, onStdout } from "../support/project.ts";
import { addRows, columnsOf, lancedb, rowsOf, versionsOf } from "../support/tables.ts";
import { applied, documents } from "./support/documents.ts";
import { onTerminal } from "./support/terminal.ts";

const headline = `m.renameColumn("documents", "title", "headline")`;
const wideId = `m.retypeColumn("documents", "id", m.int64())`;
const required = `m.setNullable("documents", "title", false)`;

/** Refused, with these words, and without any change of any table. */
async function expectRefused(project: Project, args: readonly string[], ...says: readonly string[]): Promise<void> {
  const before = await versionsOf(project.database);
  const { code, stdout, stderr } = await project.migrate(args);
  // Several differences have a line each.
  const sentence = stderr
    .trimEnd()
    .replaceAll(/:\n {2}/g, ": ")
    .replaceAll(/\n */g, "; ");
  for (const words of says) expect(sentence).toContain(words);
  expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
  expect(await versionsOf(project.database)).toEqual(before);
}

async function withTable(
  project: Project,
  name: string,
  work: (table: Awaited<ReturnType<Awaited<ReturnType<typeof lancedb.connect>>["openTable"]>>) => Promise<unknown>,
): Promise<void> {
  const db = await lancedb.connect(project.database);
  await work(await db.openTable(name));
  db.close();
}

const aDocument = {
  id: 7,
  title: "seven",
  source: { url: "https://example.com", fetched: "today" },
  score: 0.5,
  embedding: [1, 2, 3, 4],
};

test("up --steps applies the next pending migrations, and no more", async () => {
  const project = aProject();
  for (const number of [1, 2, 3, 4])
    project.migration(`000${number}_t.ts`, `m.createTable("t${number}", { id: m.int32() })`);
  const pendingNow = async () => {
    const { pending } = JSON.parse((await project.migrate(["status", "--json"])).stdout) as { pending: unknown[] };
    return pending.length;
  };
  expect(await project.migrate(["up", "--steps", "2"])).toMatchObject(onStdout(0, "2 migrations applied"));
  expect(await pendingNow()).toBe(2);
  const planned = await project.migrate(["plan", "--steps", "1", "--out", "plan.json"]);
  expect(planned).toMatchObject(onStdout(0, "1 migration, 1 action"));
  expect(await project.migrate(["up", "--plan", "plan.json"])).toMatchObject(onStdout(0, "1 migration applied"));
  expect(await project.migrate(["up", "--steps", "9"])).toMatchObject(onStdout(0, "1 migration applied"));
  expect(await project.migrate(["up", "--steps", "1"])).toMatchObject(onStdout(0, "nothing to do"));
});

test("nulls that deleted rows have left behind are told, and compaction is the way out", async () => {
  const project = aProject();
  project.migration("0001_create.ts", `m.createTable("t", { id: m.int32(), s: m.utf8() }),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "t", [
    { id: 1, s: "a" },
    { id: 2, s: null },
  ]);
  project.migration(
    "0002_strict.ts",
    `m.execute("t", { delete: "s is null" }), m.setNullable("t", "s", false), m.retypeColumn("t", "s", m.largeUtf8()),`,
  );
  const up = () => project.migrate(["up", "--accept", "lossy"]);
  expect(await up()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      `step 3 (retypeColumn) failed: rows that were deleted or updated since have left nulls of "s" in the table's files, and the engine reads them too: compact the table first (optimize); 2 of 3 actions`,
    ),
  });
  await (await (await lancedb.connect(project.database)).openTable("t")).optimize();
  expect(await up()).toMatchObject({ code: 0 });
});

describe("a run", () => {
  test("applies what is pending, and a second one has nothing to do and writes nothing", async () => {
    const project = aProject();
    project.migration("0001_documents.ts", documents);
    project.migration("0002_headlines.ts", `${headline},\n${wideId}`);

    const first = await project.migrate(["up"]);
    expect(first).toMatchObject({ code: 0 });
    expect(first.stdout).toMatch(
      /^applied 0001_documents \([^)]+\)\napplied 0002_headlines \([^)]+\)\n2 migrations applied\n$/,
    );
    expect(await columnsOf(project.database, "documents")).toEqual([
      "id: int64 not null",
      "headline: utf8",
      "source: struct<url: utf8, fetched: utf8>",
      "score: float32",
      "embedding: fixedSizeList<float32, 4>",
    ]);

    const versions = await versionsOf(project.database);
    expect(await project.migrate(["up"])).toEqual({ code: 0, stdout: "nothing to do\n", stderr: "" });
    expect(await versionsOf(project.database)).toEqual(versions);
  });

  test("without any migration has nothing to do and makes no database", async () => {
    const project = aProject();
    expect(await project.migrate(["up"])).toEqual({ code: 0, stdout: "nothing to do\n", stderr: "" });
    expect(readdirSync(project.database)).toEqual([]);
  });

  test("stops at --to and goes on from there", async () => {
    const project = aProject();
    project.migration("0001_documents.ts", documents);
    project.migration("0002_headlines.ts", headline);
    project.migration("0003_wide.ts", wideId);
    const first = await project.migrate(["up", "--to", "0002"]);
    expect(first.stdout).toContain("2 migrations applied\n");
    expect((await columnsOf(project.database, "documents")).slice(0, 2)).toEqual([
      "id: int32 not null",
      "headline: utf8",
    ]);
    expect(await project.migrate(["up", "--to=2"])).toEqual({ code: 0, stdout: "nothing to do\n", stderr: "" });
    const second = await project.migrate(["up"]);
    expect(second.stdout).toMatch(/^applied 0003_wide \(.*\)\n1 migration applied\n$/);
  });

  test("with --dry-run shows the plan and changes nothing", async () => {
    const project = aProject();
    project.migration("0001_documents.ts", documents);
    const { code, stdout, stderr } = await project.migrate(["up", "--dry-run"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^0001_documents\n {2}create table documents \(id int32 not null, /);
    expect(readdirSync(project.database)).toEqual([]);
    expect(await project.migrate(["status", "--check"])).toMatchObject({ code: 3 });
  });

  test("prints results on stdout, progress on stderr, and no word of the engine", async () => {
    const project = aProject();
    project.migration("0001_documents.ts", documents);
    project.migration("0002_required.ts", required);
    const { stderr } = await project.migrate(["up", "--step-by-step"]);
    const lines = stderr.trimEnd().split("\n");
    expect(lines).toEqual([
      "2 migrations pending, 2 actions",
      "0001_documents",
      expect.stringMatching(/^ {2}create table documents \(.*\) \(\d.*\)$/),
      "0002_required",
      expect.stringMatching(/^ {2}make documents\.title not null \(\d.*\)$/),
    ]);
  });

  test("with --quiet prints no progress, and its result all the same", async () => {
    const project = aProject();
    project.migration("0001_documents.ts", documents);
    const { stdout, stderr } = await project.migrate(["up", "--quiet"]);
    expect(stderr).toBe("");
    expect(stdout).toContain("1 migration applied\n");
  });

  test.skipIf(lacks("terminal"))("leaves no passing line behind on a terminal", () => {
    const project = aProject();
    project.migration("0001_documents.ts", documents);
    // What stays on the screen: of each line the part behind the last return to its beginning.
    const screen = onTerminal(project, "migrate up", { env: { NO_COLOR: "1" } })
      .split("\r\n")
      .map((line) => line.split("\u001b[K").at(-1));
    expect(screen).toEqual([
      "1 migration pending, 1 action",
      "0001_documents",
      expect.stringMatching(/^ {2}create table documents .*\)$/),
      expect.stringMatching(/^applied 0001_documents/),
      "1 migration applied",
      "",
    ]);
  });
});

/** Fails at a text that is no number, which is known before only where nothing was done to the table so far. */
const number = `m.addColumn("documents", "n", m.int32(), { as: "cast(headline as int)" })`;

describe("a step that fails", () => {
  test("ends the run, and the next run goes on there", async () => {
    const project = await applied(["0001_documents.ts", documents]);
    await addRows(project.database, "documents", [{ ...aDocument, id: 1000, title: "words" }]);
    project.migration("0002_change.ts", `${headline},\n${number},\n${wideId}`);
    const { documents: before } = await versionsOf(project.database);

    const failed = await project.migrate(["up"]);
    expect(failed).toMatchObject({ code: 1, stdout: "" });
    expect(failed.stderr.trimEnd().split("\n").at(-1)).toContain("0002_change.ts, step 2 (addColumn) failed");
    expect(failed.stderr).toContain("1 of 3 actions of this migration done, 0 migrations applied before it");
    expect(failed.stderr).not.toMatch(/Caused by|\.rs:|at file:/);
    expect((await versionsOf(project.database)).documents).toBe(before! + 1);
    expect(await project.migrate(["status"])).toMatchObject({ stdout: expect.stringContaining("1 of 3 actions done") });
    // Without mending it stays where it is. It is the first step now, so it is known before.
    expect(await project.migrate(["up"])).toMatchObject({ code: 4, stdout: "" });
    expect((await versionsOf(project.database)).documents).toBe(before! + 1);

    await withTable(project, "documents", (table) =>
      table.update({ where: "headline = 'words'", values: { headline: "7" } }),
    );
    const again = await project.migrate(["up"]);
    expect(again).toMatchObject({ code: 0 });
    // Renamed once, updated once, and the two steps that were left.
    expect((await versionsOf(project.database)).documents).toBe(before! + 4);
    expect((await columnsOf(project.database, "documents")).slice(0, 2)).toEqual([
      "id: int64 not null",
      "headline: utf8",
    ]);
    expect(await rowsOf(project.database, "documents")).toHaveLength(1);
  });

  async function halfDone(): Promise<Project> {
    const project = await applied(["0001_documents.ts", documents]);
    await addRows(project.database, "documents", [{ ...aDocument, title: "words" }]);
    project.migration("0002_change.ts", `${headline},\n${number}`);
    expect(await project.migrate(["up"])).toMatchObject({ code: 1 });
    return project;
  }

  test("may be edited, or left out", async () => {
    const edited = await halfDone();
    edited.migration("0002_change.ts", `${headline},\n${wideId}`);
    expect(await edited.migrate(["up"])).toMatchObject({ code: 0 });
    expect((await columnsOf(edited.database, "documents")).slice(0, 2)).toEqual([
      "id: int64 not null",
      "headline: utf8",
    ]);
    expect(await edited.migrate(["up"])).toMatchObject({ code: 0, stdout: "nothing to do\n" });
    const project = await halfDone();
    project.migration("0002_change.ts", headline);
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    expect(await project.migrate(["status", "--check"])).toMatchObject({ code: 0 });
  });

  test("does not let the steps before it be edited", async () => {
    const project = await halfDone();
    project.migration("0002_change.ts", `m.renameColumn("documents", "title", "caption"),\n${wideId}`);
    await expectRefused(project, ["up"], "0002_change.ts was changed", "step 1 has already run");
    // Nor be taken out.
    project.migration("0002_change.ts", number);
    await expectRefused(project, ["up"], "0002_change.ts was changed", "step 1");
  });
});

describe("an applied file", () => {
  const second = `${headline},\n${wideId}`;
  const history = [
    ["0001_documents.ts", documents],
    ["0002_change.ts", second],
  ] as const;

  /** Which steps may be others: test/unit/plan/history/pending.test.ts. */
  test("is refused with another step, whether or not something is pending", async () => {
    const project = await applied(...history);
    project.migration("0002_change.ts", `${headline},\n${required}`);
    const says = ["0002_change.ts was changed after it was applied", "step 2 (setNullable) is not the step that ran"];
    await expectRefused(project, ["up"], ...says);
    project.migration("0003_more.ts", `m.setNullable("documents", "id", true)`);
    await expectRefused(project, ["up"], ...says);
    await expectRefused(project, ["plan"], ...says);
  });

  test("with a number below an applied one is refused, unless --allow-out-of-order says otherwise", async () => {
    const project = await applied(["0001_documents.ts", documents], ["0003_wide.ts", wideId]);
    project.migration("0002_headlines.ts", headline);
    await expectRefused(project, ["up"], "0002_headlines.ts is pending", "0003_wide", "--allow-out-of-order");
    await expectRefused(project, ["plan"], "0002_headlines.ts is pending");
    expect(await project.migrate(["status", "--check"])).toMatchObject(
      onStdout(4, "\n0002_headlines.ts is pending, but 0003_wide with a higher number"),
    );
    expect(await project.migrate(["up", "--allow-out-of-order"])).toMatchObject({ code: 0 });
    expect((await columnsOf(project.database, "documents")).slice(0, 2)).toEqual([
      "id: int64 not null",
      "headline: utf8",
    ]);
    expect(await project.migrate(["up"])).toEqual({ code: 0, stdout: "nothing to do\n", stderr: "" });
    project.migration("0004_more.ts", `m.setNullable("documents", "id", true)`);
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  });
});

describe("drift", () => {
  /** What counts as drift: test/unit/plan/reconcile/reconcile.test.ts. */
  test("is refused and told", async () => {
    const project = await applied(["0001_documents.ts", documents]);
    await withTable(project, "documents", (t) => t.alterColumns([{ path: "title", rename: "caption" }]));
    const says = ["column title is missing", "column caption (utf8) was not expected"];
    project.migration("0002_scores.ts", `m.renameColumn("documents", "embedding", "vector")`);
    await expectRefused(project, ["up"], "table documents is not as the ledger records", ...says);
    await expectRefused(project, ["plan"], "table documents is not as the ledger records", ...says);
  });

  test("that is the pending step done by hand has its own hint, and is forgotten once it is put right again", async () => {
    const project = await applied(["0001_documents.ts", documents]);
    await withTable(project, "documents", (table) => table.alterColumns([{ path: "title", rename: "headline" }]));
    project.migration("0002_headlines.ts", headline);
    await expectRefused(project, ["up"], "; otherwise undo them or mark the migration as applied: migrate baseline");
    await withTable(project, "documents", (table) => table.alterColumns([{ path: "headline", rename: "title" }]));
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  });
});

describe("the configuration", () => {
  const target = `targets: { local: { kind: "lance", uri: ".lancedb" } }`;

  test("may name the ledger and the migrations folder", async () => {
    const project = aProject();
    project.write(
      "migrate.config.ts",
      `export default { ledger: "history.of-schema", migrations: "./database/steps", ${target} };`,
    );
    const add = (name: string, steps: string) =>
      project.write(`database/steps/${name}`, `import * as m from "lance-migrate";\nexport const up = [${steps}];\n`);
    add("0001_documents.ts", documents);
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    expect(Object.keys(await versionsOf(project.database)).toSorted()).toEqual(["documents", "history.of-schema"]);
    expect(await project.migrate(["up"])).toMatchObject({ code: 0, stdout: "nothing to do\n" });
    add("0002_ledger.ts", `m.renameColumn("history.of-schema", "by", "who")`);
    await expectRefused(project, ["up"], "table history.of-schema is the ledger's");
  });

  test.each(["a folder/with ümlauts", "100% #1?", "a%20b", "./~"])("may keep the database in %s", async (uri) => {
    const project = aProject();
    project.write("migrate.config.ts", `export default { targets: { local: { kind: "lance", uri: "${uri}" } } };`);
    project.migration("0001_documents.ts", documents);
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    expect(await project.migrate(["up"])).toMatchObject({ code: 0, stdout: "nothing to do\n" });
    expect(readdirSync(join(project.folder, uri)).toSorted()).toEqual(["_migrations.lance", "documents.lance"]);
  });
});
