/** Columns whose values code of the project computes. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Project, onStderr, onStdout } from "../support/project.ts";
import { addRows, columnsOf, lancedb, rowsOf } from "../support/tables.ts";
import { casesInTurn } from "../support/rounds.ts";
import { aProjectOn, key, type Way } from "./support/project-on.ts";

const inTurn = casesInTurn();

const texts = ["one", "two", "three", null, "five"];

/** A table of five texts, and code that computes their length and keeps a log. */
async function aScene(options: object = {}, code = lengthsOf(), way: Way = "lance"): Promise<Project> {
  const { data, migrate, start, ...rest } = await aProjectOn(way);
  const withKey = { migrate: (args: readonly string[], env?: object) => migrate(args, { ...key, ...env }) };
  const project = { ...rest, ...withKey, start, database: data };
  project.migration("0001_docs.ts", `m.createTable("docs", { id: m.int64().notNull(), text: m.utf8() }),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(
    project.database,
    "docs",
    texts.map((text, id) => ({ id, text })),
  );
  project.write("code/lengths.ts", code);
  backfill(project, options);
  return project;
}

function backfill(project: Project, options: object = {}): void {
  const all = { from: ["text"], key: "id", with: "./code/lengths.ts", version: "1", batch: 2, ...options };
  project.migration(
    "0002_length.ts",
    `m.addColumn("docs", "length", m.int32()), m.backfillColumn("docs", "length", ${JSON.stringify(all)}),`,
  );
}

/** `first`: statements that run first in each call. */
function lengthsOf(first = ""): string {
  return `import { appendFileSync } from "node:fs";
export default async function lengths(rows: { text: string | null }[]) {
  ${first}
  appendFileSync("log.txt", rows.map(({ text }) => text + "\\n").join(""));
  return rows.map(({ text }) => text === null ? null : text.length);
}
`;
}

function logOf({ folder }: Project): readonly string[] {
  const file = join(folder, "log.txt");
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
}

async function lengthsIn({ database }: Project): Promise<readonly unknown[]> {
  const rows = (await rowsOf(database, "docs")) as readonly { id: number; length: unknown }[];
  return rows.toSorted((one, other) => Number(one.id) - Number(other.id)).map(({ length }) => length);
}

const complete = [3, 3, 5, null, 4];

const ways = ["lance", "namespace"] as const;

test.each(inTurn(ways))("SQL computes the values in pages instead of code, on %s", async (way) => {
  const project = await aScene({ with: { sql: "nofunc(text)" } }, lengthsOf(), way);
  // On a service, it is not tried in advance.
  const code = way === "lance" ? 4 : 1;
  expect(await project.migrate(["up"])).toMatchObject({ code, stderr: expect.stringContaining("nofunc") });
  backfill(project, { with: { sql: "character_length(text)" } });
  const plan = await project.migrate(["plan"]);
  expect(plan.stdout).toContain(
    "compute docs.length from text with character_length(text), version 1, where it is null",
  );
  expect(plan.stdout).not.toContain("calls");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await lengthsIn(project)).toEqual(complete);
  expect(await columnsOf(project.database, "docs")).toHaveLength(3);
});

test.each(inTurn(ways))(
  "up computes the values of a column, leaves nothing behind, and down restores the table, on %s",
  async (way) => {
    const project = await aScene({}, lengthsOf(), way);
    const plan = await project.migrate(["plan"]);
    expect(plan.stdout).toContain("compute docs.length from text with ./code/lengths.ts, version 1, where it is null");
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    expect(await lengthsIn(project)).toEqual(complete);
    expect(logOf(project).toSorted()).toEqual(["five", "null", "one", "three", "two"]);
    const db = await lancedb.connect(project.database);
    expect((await db.tableNames()).toSorted()).toEqual(["_migrations", "docs"]);
    expect((await (await db.openTable("docs")).schema()).fields.map(({ name }) => name)).toEqual([
      "id",
      "text",
      "length",
    ]);
    expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
    expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
    expect(await rowsOf(project.database, "docs")).toEqual(texts.map((text, id) => ({ id, text })));
  },
);

test.each(inTurn(ways))(
  "if the code fails for a row, up names it, and the next run computes what is missing, on %s",
  async (way) => {
    const fails = `if (rows.some(({ text }) => text === "five")) throw new Error("five is too long");`;
    const project = await aScene({ concurrency: 1 }, lengthsOf(fails), way);
    const failed = await project.migrate(["up"]);
    expect(failed).toMatchObject({ code: 1, stdout: "" });
    expect(failed.stderr).toContain(
      "0002_length.ts, step 2 (backfillColumn) failed: ./code/lengths.ts, for the row whose id is 4: five is too long; what was computed before is kept",
    );
    const status = await project.migrate(["status"]);
    expect(status.stdout).toContain("1 of 2 actions done");
    project.write("code/lengths.ts", lengthsOf());
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    expect(await lengthsIn(project)).toEqual(complete);
    // The four rows that the code computed before it was edited are compared.
    expect(logOf(project)).toHaveLength(9);
  },
);

test("after a failure, the code and how it is called may change: its step resumes, and what is outdated is computed again", async () => {
  const fails = `if (rows.some(({ text }) => text === "five")) throw new Error("five is too long");`;
  const project = await aScene({ concurrency: 1 }, lengthsOf(fails));
  expect(await project.migrate(["up"])).toMatchObject({ code: 1 });
  project.write("code/twice.ts", lengthsOf().replace("text.length", "text.length * 2"));
  backfill(project, { with: "./code/twice.ts", version: "2", failedRows: "leave" });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await lengthsIn(project)).toEqual(complete.map((length) => length && length * 2));
});

test("a module, or a file that it imports, that is edited between two runs may not mix values of two models", async () => {
  const fails = `if (rows.some(({ text }) => text === "five")) throw new Error("five is too long");`;
  const importing = (code: string) =>
    `import { factor } from "./factor.ts";\n${code.replace("text.length", "text.length * factor")}`;
  const project = await aScene({ concurrency: 1 }, importing(lengthsOf(fails)));
  project.write("code/factor.ts", "export const factor = 1;\n");
  expect(await project.migrate(["up"])).toMatchObject({ code: 1 });
  project.write("code/factor.ts", "export const factor = 2;\n");
  project.write("code/lengths.ts", importing(lengthsOf()));
  const edited = await project.migrate(["up"]);
  expect(edited).toMatchObject({ code: 1 });
  expect(edited.stderr).toContain(
    "./code/lengths.ts: it was edited after it had computed rows, and now gives another length for 3 of 4 rows that it computed",
  );
  project.write("code/factor.ts", "export const factor = 1;\n");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await lengthsIn(project)).toEqual(complete);
});

test("a call that is refused for now is repeated after the time that the service asks for", async () => {
  const busy = `if (!globalThis.wasBusy) { globalThis.wasBusy = true; throw Object.assign(new Error("busy"), { status: 429, headers: new Headers({ "retry-after": "0.1" }) }); }`;
  const project = await aScene({}, lengthsOf(busy));
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await lengthsIn(project)).toEqual(complete);
});

test("a key that is not unique is refused before anything is changed", async () => {
  const project = await aScene();
  await addRows(project.database, "docs", [{ id: 4, text: "five again" }]);
  const words = "docs.id is 4 in 2 rows or more, so it can't identify rows; give them different values";
  expect(await project.migrate(["plan"])).toMatchObject(onStdout(4, `would fail: ${words}`));
  const failed = await project.migrate(["up"]);
  expect(failed).toMatchObject({ code: 4 });
  expect(failed.stderr).toContain(`(backfillColumn) would fail: ${words}`);
  expect(logOf(project)).toEqual([]);
  const docs = await (await lancedb.connect(project.database)).openTable("docs");
  await docs.delete("text = 'five again'");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await lengthsIn(project)).toEqual(complete);
});

test("a step that has begun is refused for a key that came since", async () => {
  const project = await aScene({}, lengthsOf(`throw new Error("no");`));
  expect(await project.migrate(["up"])).toMatchObject({ code: 1 });
  await addRows(project.database, "docs", [{ id: 4, text: "five again" }]);
  project.write("code/lengths.ts", lengthsOf());
  const words = "(backfillColumn) would fail: docs.id is 4 in 2 rows or more";
  for (const command of ["plan", "up"]) expect(await project.migrate([command])).toMatchObject(onStderr(4, words));
  await (await (await lancedb.connect(project.database)).openTable("docs")).delete("text = 'five again'");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await lengthsIn(project)).toEqual(complete);
});

test("a ledger that is lost beside a backfill that has stopped is rebuilt in the middle of it, and up computes the rest", async () => {
  const project = await aScene({}, lengthsOf(`throw new Error("no");`));
  expect(await project.migrate(["up"])).toMatchObject({ code: 1 });
  await (await lancedb.connect(project.database)).dropTable("_migrations");
  expect(await project.migrate(["status"])).toMatchObject({ stdout: expect.stringContaining("see migrate repair") });
  expect(await project.migrate(["repair", "--yes"])).toMatchObject(
    onStdout(0, "as they were in the middle of action 2 of 0002_length"),
  );
  project.write("code/lengths.ts", lengthsOf());
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await lengthsIn(project)).toEqual(complete);
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
});

test("a null in the key is counted before, in the rows that are computed only", async () => {
  const project = await aScene();
  const nullable = `m.setNullable("docs", "id", true),`;
  project.migration("0002_nullable.ts", nullable);
  const steps = (where: string) =>
    `m.addColumn("docs", "length", m.int32()), m.backfillColumn("docs", "length", { from: ["text"], key: "id", with: "./code/lengths.ts", version: "1", where: ${JSON.stringify(where)} }),`;
  rmSync(join(project.folder, "migrations/0002_length.ts"));
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "docs", [
    { id: null, text: "no key" },
    { id: null, text: "none" },
  ]);
  project.migration("0003_length.ts", steps("text <> 'nothing'"));
  expect((await project.migrate(["up"])).stderr).toContain(
    "(backfillColumn) would fail: docs.id is null in 2 rows that the step computes, so it can't identify them; give them values",
  );
  expect(logOf(project)).toEqual([]);
  project.migration("0003_length.ts", steps("id is not null"));
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
});

test("a key that a row shares with one that has a value, or that is computed later, is refused in advance", async () => {
  const project = await aScene();
  const risk = "several rows with the same docs.id";
  const more = Array.from({ length: 600 }, (_, at) => ({ id: at + 100, text: "more" }));
  await addRows(project.database, "docs", [...more, { id: 100, text: "the last" }]);
  const words = "would fail: docs.id is 100 in 2 rows or more, so it can't identify rows; give them different values";
  expect(await project.migrate(["plan"])).toMatchObject(onStdout(4, words));
  const docs = await (await lancedb.connect(project.database)).openTable("docs");
  await docs.delete("text = 'the last'");
  const usable = await project.migrate(["plan"]);
  expect(usable.code).toBe(0);
  expect(usable.stdout).not.toContain(risk);
  // No code computes the row with the other value.
  project.migration("0002_length.ts", `m.addColumn("docs", "length", m.int32())`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "docs", [{ id: 4, text: "own", length: -1 }]);
  const options = { from: ["text"], key: "id", with: "./code/lengths.ts", version: "1" };
  const fill = (where: string) =>
    project.migration("0003_fill.ts", `m.backfillColumn("docs", "length", ${JSON.stringify({ ...options, where })})`);
  fill("true");
  expect((await project.migrate(["up"])).stderr).toContain("docs.id is 4 in 2 rows or more");
  fill("id <> 4");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
});

/** Fails at the row with this text, after others have been merged. */
const failsAt = (text: string) =>
  lengthsOf(`if (rows.some(({ text }) => text === "${text}")) throw new Error("no ${text}");`);

async function tablesIn({ database }: Project): Promise<readonly string[]> {
  return (await (await lancedb.connect(database)).tableNames()).filter((name) => !name.startsWith("_migrations."));
}

test.each(inTurn(ways))(
  "a backfill that stops at a row is rolled back, and can be applied later, on %s",
  async (way) => {
    const project = await aScene({}, failsAt("five"), way);
    const [columns, tables] = [await columnsOf(project.database, "docs"), await tablesIn(project)];
    for (const _ of ["first", "again"]) expect(await project.migrate(["up"])).toMatchObject({ code: 1 });
    expect(await project.migrate(["plan", "--down"])).toMatchObject({ code: 0 });
    expect(await project.migrate(["down"])).toMatchObject(onStdout(0, "1 migration rolled back"));
    expect(await columnsOf(project.database, "docs")).toEqual(columns);
    expect(await tablesIn(project)).toEqual(tables);
    expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
    project.write("code/lengths.ts", lengthsOf());
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    expect(await lengthsIn(project)).toEqual(complete);
  },
);

test("a backfill of a column with values that stops at a row is rolled back with the rows that came since", async () => {
  const project = await aScene({}, failsAt("five"));
  project.migration("0002_length.ts", `m.addColumn("docs", "length", m.int32()),`);
  project.migration(
    "0003_fill.ts",
    `m.backfillColumn("docs", "length", { from: ["text"], key: "id", with: "./code/lengths.ts", version: "1", batch: 1 }),`,
  );
  expect(await project.migrate(["up", "--to", "2"])).toMatchObject({ code: 0 });
  const table = await (await lancedb.connect(project.database)).openTable("docs");
  await table.update({ where: "id = 1", valuesSql: { length: "7" } });
  expect(await project.migrate(["up"])).toMatchObject({ code: 1 });
  await addRows(project.database, "docs", [{ id: 9, text: "nine", length: 9 }]);
  const { code, stderr } = await project.migrate(["down"]);
  expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining("1 row of docs was written since") });
  expect(await project.migrate(["down", "--reinsert"])).toMatchObject({ code: 0 });
  expect(await lengthsIn(project)).toEqual([null, 7, null, null, null, 9]);
  expect((await project.migrate(["status"])).stdout).toContain("2 migrations applied, 1 pending");
});

test("a module that awaits what never comes is named, and the run leaves the lease free", async () => {
  const project = await aScene({ with: "./code/stuck.ts" });
  project.write("code/stuck.ts", "await new Promise(() => {});\nexport default () => [];\n");
  const failed = await project.start(["up"]).finished;
  expect(failed).toMatchObject({ code: 1 });
  expect(failed.stderr).toContain("(backfillColumn) failed: ./code/stuck.ts: it awaits something that never comes");
  backfill(project);
  expect(await project.migrate(["up", "--wait", "0"])).toMatchObject({ code: 0 });
});

test.each([
  ["./code/none.ts", 4, "would fail: there is no file ./code/none.ts"],
  ["./code/lengths.js", 4, "would fail: there is no file ./code/lengths.js; the file there is lengths.ts"],
  ["./code/bare.ts", 4, "would fail: ./code/bare.ts: it has no default export"],
  ["./code/number.ts", 1, "failed: ./code/number.ts: its default export is no function"],
])("code that can't be used is named: %s", async (path, code, problem) => {
  const project = await aScene({ with: path });
  project.write("code/bare.ts", "export const lengths = 7;\n");
  project.write("code/number.ts", "export default 7;\n");
  const failed = await project.migrate(["up"]);
  expect(failed).toMatchObject({ code });
  expect(failed.stderr).toContain(`(backfillColumn) ${problem}`);
  // A new database has no row to compute.
  rmSync(project.database, { recursive: true });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
});

const command = `import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  const { id, rows } = JSON.parse(line);
  FIRST
  console.log(JSON.stringify({ id, values: rows.map(({ text }) => text === null ? null : text.length) }));
}
`;

test("a command computes the values too", async () => {
  const project = await aScene({ with: { command: [process.execPath, "code/lengths.mjs"] } });
  project.write("code/lengths.mjs", command.replace("FIRST", 'console.log("hello");'));
  expect(await project.migrate(["up"])).toMatchObject(onStderr(0, "length: hello\n"));
  expect(await lengthsIn(project)).toEqual(complete);
});

test("a rehearsal does not run the code", async () => {
  const project = await aScene();
  expect(await project.migrate(["rehearse"])).toMatchObject({ code: 0 });
  expect(logOf(project)).toEqual([]);
});

test("an interrupted run keeps what was computed, and the next one resumes", async () => {
  const waits = `if (rows.some(({ text }) => text === "three") && !process.env.GO) await new Promise(() => {});`;
  const project = await aScene({ concurrency: 1 }, lengthsOf(waits));
  const running = project.start(["up"]);
  await expect.poll(() => logOf(project).length).toBe(2);
  running.process.kill("SIGINT");
  const { code, stderr } = await running.finished;
  expect(code).toBe(130);
  expect(stderr).toContain("interrupted; docs.length is computed in part; run the same command to continue");
  const history = await project.migrate(["history", "--json"]);
  expect(history.stdout).toContain('"event":"interrupted"');
  expect(history.stdout).not.toContain('"event":"failed"');
  expect(await project.migrate(["up"], { GO: "1" })).toMatchObject({ code: 0 });
  expect(await lengthsIn(project)).toEqual(complete);
  expect(logOf(project)).toHaveLength(5);
});
