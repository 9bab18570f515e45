/** How output is laid out and coloured for a terminal. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { lacks } from "../support/needs.ts";
import { addRows } from "../support/tables.ts";
import { aProject, root } from "../support/project.ts";
import { manyProjects, type SmallProject } from "./support/many-projects.ts";
import { atTerminal, onTerminal, withoutColours } from "./support/terminal.ts";

const projects = manyProjects();
const file = (steps: string) => `import * as m from "lance-migrate";\n\nexport const up = [${steps}];\n`;
let project: SmallProject;

beforeAll(async () => {
  const create = `m.createTable("documents", { id: m.int32().notNull() }, { rows: [{ id: 1 }] })`;
  project = projects.project({ "migrations/0001_documents.ts": file(create) });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const fails = `m.addColumn("documents", "lang", m.utf8()), m.addColumn("documents", "n", m.int32(), { as: "1 / (id - 1)" })`;
  writeFileSync(join(project.folder, "migrations/0002_no.ts"), file(fails));
  const { stderr, status } = migrate(["up"], { NO_COLOR: "1" });
  expect([status, stderr]).toEqual([
    1,
    expect.stringMatching(/failed: Divide by zero error; 1 of 2 .* \(ERR_STEP_FAILED\)\n$/),
  ]);
});

/** Without a terminal. */
function migrate(args: readonly string[], env: NodeJS.ProcessEnv, { folder }: SmallProject = project) {
  return spawnSync(process.execPath, [join(root, "dist/bin.js"), ...args], {
    cwd: folder,
    env: { ...withoutColours(), ...env },
    encoding: "utf8",
  });
}

test("an error ends with its code, unless it is about how the command is called", () => {
  const codeOf = (...args: readonly string[]) => / \(ERR_\w+\)\n$/.exec(migrate(args, { NO_COLOR: "1" }).stderr)?.[0];
  expect(codeOf("plan")).toBe(" (ERR_STEP_WOULD_FAIL)\n");
  expect(codeOf("up", "--to", "x")).toBeUndefined();
});

const plain = { NO_COLOR: "1" };
const linesOf = (shown: string) => shown.split("\r\n").slice(0, -1);

test.skipIf(lacks("terminal"))("status shows an error in one line under its row, as wide as the terminal", () => {
  const [applied, pending, error, summary, ...more] = linesOf(
    onTerminal(project, "migrate status", { env: plain, columns: 60 }),
  );
  expect(applied).toMatch(/^applied {2}0001_documents {2}/);
  expect([pending, error, summary, ...more]).toEqual([
    "pending  0002_no",
    expect.stringMatching(/^ {9}1 of 2 actions done as of \S+ \S+Z$/),
    "         0002_no.ts, step 2 (addColumn) failed: Divide by …",
    "1 migration applied, 1 pending on local",
    "0002_no is half done: to continue, migrate up; to go back,",
    "  migrate down",
  ]);
});

test.skipIf(lacks("terminal"))("a long line breaks between words, and continues further in", () => {
  const lines = linesOf(onTerminal(project, "migrate down --to 7", { env: plain, columns: 40 }));
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.filter((line) => line.length > 40)).toEqual([]);
  expect(lines.slice(1).every((line) => line.startsWith("  "))).toBe(true);
});

test.skipIf(lacks("terminal")).each([["> out.txt"], ["2> out.txt"]])(
  "each stream is coloured only if it is a terminal: %s",
  (where) => {
    const shown = onTerminal(project, `migrate plan ${where}`);
    expect([shown, readFileSync(join(project.folder, "out.txt"), "utf8")]).toEqual([
      expect.stringContaining("\u001b[31m"),
      expect.not.stringContaining("\u001b"),
    ]);
  },
);

test.each<readonly [string, NodeJS.ProcessEnv, readonly string[], boolean]>([
  ["FORCE_COLOR", { FORCE_COLOR: "1" }, [], true],
  ["nothing", {}, [], false],
  ["--no-color", { FORCE_COLOR: "1" }, ["--no-color"], false],
])("without a terminal, %s decides", (_, env, args, isColoured) => {
  const { stdout, stderr } = migrate(["plan", ...args], env);
  expect([stdout, stderr].map((text) => text.includes("\u001b[31m"))).toEqual([isColoured, isColoured]);
});

test("a risk that concerns no row now is quiet, and one that concerns rows is not", async () => {
  const other = aProject();
  other.migration("0001_documents.ts", `m.createTable("documents", { id: m.int32(), title: m.utf8() })`);
  expect(await other.migrate(["up"])).toMatchObject({ code: 0 });
  other.migration("0002_gone.ts", `m.dropColumn("documents", "title")`);
  const risk = async () => {
    const { stdout } = await other.migrate(["plan"], { FORCE_COLOR: "1", NO_COLOR: "" });
    return stdout.split("\n").find((line) => line.includes("risk: "))!;
  };
  expect(await risk()).toMatch(/^.\[2m.*: no row now/);
  await addRows(other.database, "documents", [{ id: 1, title: "a" }]);
  expect(await risk()).toMatch(/^.\[33m.*: 1 row now/);
});

test.each([
  ["green", ", nothing wrong", 32, ["--since", "2"]],
  ["yellow", ": 1 note", 33, []],
] as const)("the summary of lint is %s if it ends with %j", (_, end, colour, args) => {
  const other = projects.project({
    "migrations/0001_documents.ts": file(`m.createTable("documents", { id: m.int32(), title: m.utf8() })`),
    "migrations/0002_title.ts": file(`m.setNullable("documents", "title", false)`),
  });
  expect(migrate(["lint", ...args], { FORCE_COLOR: "1" }, other).stdout).toContain(
    `\u001b[${colour}m2 migrations checked${end}\u001b[39m\n`,
  );
});

test.skipIf(lacks("terminal"))(
  "down shows its plan at a terminal and asks, and rolls back only after a yes",
  async () => {
    const other = aProject();
    other.migration("0001_documents.ts", `m.createTable("documents", { id: m.int32() })`);
    expect(await other.migrate(["up"])).toMatchObject({ code: 0 });
    const asked = /everything as it is\) /;
    const left = await atTerminal(other, "down", asked, ["\n"]);
    expect(left.code).toBe(4);
    expect(left.shown).toMatch(/drop table documents[^]*roll back 0001_documents\? [^]*nothing was changed/);
    expect((await other.migrate(["status"])).stdout).toContain("applied  0001_documents");
    const done = await atTerminal(other, "down", asked, ["yes\n"]);
    expect([done.code, done.shown]).toEqual([0, expect.stringContaining("rolled back 0001_documents")]);
    // Nothing is asked where there is nothing to do, and with --yes.
    expect(onTerminal(other, "migrate down", { env: plain })).toBe("nothing to roll back\r\n");
    expect(await other.migrate(["up"])).toMatchObject({ code: 0 });
    expect(onTerminal(other, "migrate down --yes", { env: plain })).not.toMatch(asked);
    expect((await other.migrate(["status"])).stdout).toContain("pending  0001_documents");
  },
);

test.skipIf(lacks("terminal"))("where down restores a version, it shows what that undoes before it asks", async () => {
  const other = aProject();
  other.migration("0001_documents.ts", `m.createTable("documents", { id: m.int32(), title: m.utf8() })`);
  other.migration("0002_n.ts", `m.addColumn("documents", "n", m.int32()), m.dropColumn("documents", "title")`);
  expect(await other.migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
  const { shown } = await atTerminal(other, "down", /everything as it is\) /, ["\n"]);
  expect(shown).toMatch(
    /restore version 1 of documents[^]*\n {4}undoes: add documents\.n int32; drop documents\.title\r\n[^]*roll back 0002_n\? /,
  );
});
