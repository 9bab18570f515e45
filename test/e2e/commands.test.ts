/** The commands besides `up`: what they print, and with which exit code they end. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { aProject, type Project, onStderr, onStdout } from "../support/project.ts";
import { ofThisCommit } from "../support/rounds.ts";
import { addRows, versionsOf } from "../support/tables.ts";

const documents = `m.createTable("documents", { id: m.int32().notNull(), title: m.utf8() })`;
const headline = `m.renameColumn("documents", "title", "headline")`;
/** Fails at a text that is no number, which is known before only where nothing was done to the table so far. */
const number = `m.addColumn("documents", "n", m.int32(), { as: "cast(title as int)" })`;

function twoMigrations(): Project {
  const project = aProject();
  project.migration("0001_documents.ts", documents);
  project.migration("0002_headlines.ts", headline);
  return project;
}

async function halfApplied(): Promise<Project> {
  const project = twoMigrations();
  expect(await project.migrate(["up", "--to", "1"])).toMatchObject({ code: 0 });
  return project;
}

describe("status", () => {
  test("shows what is applied and what is pending", async () => {
    const project = await halfApplied();
    const { code, stdout, stderr } = await project.migrate(["status"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.split("\n")).toEqual([
      expect.stringMatching(/^applied {2}0001_documents {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ {2}\d.* m?s$/),
      "pending  0002_headlines",
      "1 migration applied, 1 pending on local",
      "",
    ]);
  });

  test("changes nothing, and makes no database where there is none", async () => {
    const project = twoMigrations();
    expect(await project.migrate(["status"])).toMatchObject({ code: 0 });
    expect(readdirSync(project.database)).toEqual([]);
  });

  test("with --check ends with 3 while something is pending", async () => {
    const project = await halfApplied();
    expect(await project.migrate(["status", "--check"])).toMatchObject({ code: 3, stderr: "" });
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    expect(await project.migrate(["status", "--check"])).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("plan", () => {
  test("shows each pending action and changes nothing", async () => {
    const project = await halfApplied();
    const before = await versionsOf(project.database);
    expect(await project.migrate(["plan"])).toEqual({
      code: 0,
      stdout:
        "0002_headlines\n  rename documents.title to headline (metadata only)\n" +
        "  back: rename documents.headline to title (exact, metadata only)\n" +
        "1 migration, 1 action: metadata only, 1 version\nverdict: ready\n",
      stderr: "",
    });
    expect(await versionsOf(project.database)).toEqual(before);
  });

  test("--verbose shows the calls, the versions, and how each action is rolled back", async () => {
    expect((await (await halfApplied()).migrate(["plan", "--verbose"])).stdout).toBe(
      "0002_headlines\n  rename documents.title to headline (metadata only, 1 version)\n" +
        `    documents.alterColumns([{"path":"title","rename":"headline"}])\n` +
        "    back: rename documents.headline to title (exact, metadata only, 1 version)\n" +
        `      documents.alterColumns([{"path":"headline","rename":"title"}])\n` +
        "1 migration, 1 action: metadata only, 1 version\nverdict: ready\n",
    );
  });

  test("shows what is left of a migration that failed", async () => {
    const project = await halfApplied();
    await addRows(project.database, "documents", [{ id: 1, title: "words" }]);
    project.migration("0002_headlines.ts", `m.setNullable("documents", "id", true),\n${number}`);
    expect(await project.migrate(["up"])).toMatchObject({ code: 1 });
    expect(await project.migrate(["plan"])).toMatchObject({
      code: 4,
      stdout: expect.stringMatching(
        /^0002_headlines \(1 of 2 actions done already\)\n {2}add documents\.n int32 .*\n.*would fail: /s,
      ),
    });
  });
});

describe("history", () => {
  test("of a new project is empty", async () => {
    expect(await aProject().migrate(["history"])).toEqual({
      code: 0,
      stdout: "the ledger is empty\n",
      stderr: "",
    });
  });

  test("shows each migration with its time and who ran it", async () => {
    const project = await halfApplied();
    const { stdout } = await project.migrate(["history"]);
    expect(stdout).toMatch(
      /^1\.1 {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ {2}applied {2}0001_documents {2}\d+ ms {2}\S+@\S+ \(process \d+\)\n$/,
    );
  });

  test("with -v shows the lease too", async () => {
    const project = await halfApplied();
    const { stdout } = await project.migrate(["history", "-v"]);
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/ {2,}/)[2]);
    expect(events).toEqual(["run began", "applied", "run ended"]);
  });
});

describe("lint", () => {
  test("finds nothing wrong with good migrations, applied or not, and makes no database", async () => {
    const project = twoMigrations();
    expect(await project.migrate(["lint"])).toEqual({
      code: 0,
      stdout: "2 migrations checked, nothing wrong\n",
      stderr: "",
    });
    expect(readdirSync(project.database)).toEqual([]);
  });

  test("names the problems of all files at once", async () => {
    const project = aProject();
    project.migration("0001_documents.ts", documents);
    project.migration("0002_bad.ts", "5");
    project.write("migrations/0003_bad.ts", "export const up = [;");
    project.write("migrations/0004_bad.ts", "export const accepts = [];");
    const { code, stdout, stderr } = await project.migrate(["lint"]);
    expect({ code, stderr }).toEqual({ code: 4, stderr: "4 migrations checked: 3 errors\n" });
    expect(stdout.trimEnd().split("\n")).toEqual([
      expect.stringContaining("0002_bad.ts:3:14 error ERR_STEP_INVALID: step 1: is not a step"),
      expect.stringContaining("0003_bad.ts:1:20 error ERR_FILE_UNREADABLE: 0003_bad.ts can't be loaded"),
      expect.stringContaining("0004_bad.ts:1:1 error ERR_FILE_EXPORTS: 0004_bad.ts exports no up"),
    ]);
  });
});

test("up notes a lock.json that is out of date, but only after it has applied something", async () => {
  const project = twoMigrations();
  project.write("migrations/lock.json", `{ "migrations": {}, "tables": {} }\n`);
  const note = "note: run migrate lint --write, because migrations/lock.json lacks 0001_";
  const ended = await project.migrate(["up"]);
  expect(ended).toMatchObject(onStderr(0, note));
  for (const command of ["up", "plan"])
    expect((await project.migrate([command])).stderr, command).not.toContain("lock.json");
});

describe("new", () => {
  const textOf = (project: Project, name: string) => readFileSync(join(project.folder, "migrations", name), "utf8");

  test("writes the next number, with the name as a sentence", async () => {
    const project = twoMigrations();
    const { code, stdout, stderr } = await project.migrate(["new", "require_all-headlines"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^wrote .*migrations\/0003_require_all-headlines\.ts\nwrote .*migrations\/lock\.json\n$/);
    const text = textOf(project, "0003_require_all-headlines.ts");
    expect(text).toContain("/** Require all headlines. */");
    expect(text).toContain("export const up: readonly Step[] = [");
  });

  test("continues after the highest number, whatever is missing below", async () => {
    const project = aProject();
    project.migration("0007_documents.ts", documents);
    project.migration("9999_more.ts", headline);
    expect(await project.migrate(["new", "next"])).toMatchObject({ code: 0 });
    expect(existsSync(join(project.folder, "migrations", "10000_next.ts"))).toBe(true);
  });

  test("writes a file that runs as soon as a step is put in", async () => {
    const project = twoMigrations();
    expect(await project.migrate(["new", "wide_ids"])).toMatchObject({ code: 0 });
    // As it is written it has no step yet, and that is said.
    expect(await project.migrate(["lint"])).toMatchObject(onStdout(4, "0003_wide_ids.ts exports no steps"));
    const text = textOf(project, "0003_wide_ids.ts")
      .replace("type Step", "int64, retypeColumn, type Step")
      .replace(/\/\/ .*\n/, `retypeColumn("documents", "id", int64()),\n`);
    project.write("migrations/0003_wide_ids.ts", text);
    expect(await project.migrate(["lint"])).toMatchObject(
      onStdout(4, "migrate lint --write, because migrations/lock.json has other steps for 0003_wide_ids"),
    );
    const note = "note: run migrate lint --write, because migrations/lock.json has other steps for 0003_wide_ids";
    expect((await project.migrate(["plan"])).stderr).toContain(note);
    expect(await project.migrate(["lint", "--write"])).toMatchObject({ code: 0 });
    expect(await project.migrate(["lint"])).toMatchObject({ code: 0 });
    expect((await project.migrate(["plan"])).stderr).not.toContain("lock.json");
    expect(await project.migrate(["up"])).toMatchObject(onStdout(0, "3 migrations applied"));
  });
});

const commands: readonly string[] = [
  "up",
  "down",
  "status",
  "plan",
  "prepare",
  "rehearse",
  "history",
  "blame",
  "verify",
  "repair",
  "resolve",
  "prune",
  "lint",
  "init",
  "new",
  "push",
  "dev",
  "generate",
  "pull",
  "reset",
  "inspect",
  "diff",
  "baseline",
  "build",
  "types",
  "contract",
  "rebase",
  "squash",
  "serve",
  "doctor",
  "report",
  "completion",
];
const common = ["--json", "-q, --quiet", "-v, --verbose", "--no-color", "--help"];
const ofConfig = ["-t, --target", "-c, --config", "--load-timeout"];

describe("help", () => {
  test.each([[[]], [["--help"]], [["help"]], [["--target", "x", "-h"]]])("of %j lists every command", async (words) => {
    const { code, stdout, stderr } = await aProject().migrate(words);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [, groups = ""] = /^(Write migrations:.*)^Examples:/ms.exec(stdout) ?? [];
    const listed = [...groups.matchAll(/^ {2}(\w+)/gm)].map(([, command]) => command);
    expect(listed.toSorted()).toEqual(commands.toSorted());
  });

  test.each([[["help", "up"]], [["--target", "x", "up", "--to", "-h"]]])("of up is printed for %j", async (words) => {
    const { stdout } = await aProject().migrate(["up", "--help"]);
    expect(await aProject().migrate(words)).toEqual({ code: 0, stdout, stderr: "" });
  });

  test.each(commands)("of %s has its usage, examples and the common flags", async (command) => {
    const { code, stdout, stderr } = await aProject().migrate([command, "--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`^migrate ${command}\\b.*\n\n.*\n\nExamples:\n  migrate ${command}\\b`, "s"));
    for (const flag of common) expect(stdout).toContain(flag);
    const readsConfig = command !== "serve" && command !== "completion";
    for (const flag of ofConfig) expect([flag, stdout.includes(flag)]).toEqual([flag, readsConfig]);
  });

  test("of up says what its flags are when left out", async () => {
    const { stdout } = await aProject().migrate(["up", "--help"]);
    for (const flag of ["--accept", "--plan", "--wait", "or 600)", "--lease", "or 30)"]) expect(stdout).toContain(flag);
  });

  test.each([["--version"], ["-V"]])("%s is the package's version", async (flag) => {
    expect(await aProject().migrate([flag])).toEqual({ code: 0, stdout: `${packageJson.version}\n`, stderr: "" });
  });
});

describe("common flags", () => {
  const config = `export default { targets: { here: { kind: "lance", uri: "a" }, there: { kind: "lance", uri: "b" } } };`;

  // completion and serve know no targets, and serve does not end by itself (test/service/serve-command.test.ts); pull and baseline are refused
  // where no program has made tables yet (test/e2e/pull.test.ts), and rebase without git (test/e2e/rebase.test.ts); resolve needs
  // a migration (test/e2e/resolve.test.ts), push none that is pending (test/e2e/push.test.ts), and reset and dev a target that allows them (test/e2e/reset.test.ts, dev.test.ts).
  const refused = new Set(["completion", "serve", "pull", "baseline", "rebase", "resolve", "push", "reset", "dev"]);
  const targeted = commands.filter((command) => !refused.has(command));

  // Each takes them in the same code; for each commit a third of the commands does.
  const always = ["init", "squash"];
  const others = targeted.filter((command) => !always.includes(command));

  test.each([...always, ...ofThisCommit(others, 3)])("are taken by %s in both spellings", async (command) => {
    const project = twoMigrations();
    project.write("deploy.ts", config);
    project.write(
      "schema.ts",
      `import * as m from "lance-migrate";\nexport default m.defineSchema({ more: { id: m.int32() } });\n`,
    );
    const words: Readonly<Record<string, readonly string[]>> = {
      init: ["init", "--yes"],
      new: ["new", "third"],
      squash: ["squash", "--to", "2", "--dry-run"],
      blame: ["blame", "documents"],
      diff: ["diff", "1", "2"],
      contract: ["contract", "--application", "search", "--release", "1"],
      generate: ["generate", "--drop-table", "documents"],
    };
    const called = words[command] ?? [command];
    const short = await project.migrate([...called, "-t", "there", "-c", "deploy.ts", "-q", "-v"]);
    expect(short).toMatchObject({ code: 0, stderr: "" });
    const long = await project.migrate([
      // What was dropped is gone.
      ...(command === "generate" ? [command] : called),
      "--target=there",
      "--config=deploy.ts",
      "--quiet",
      "--verbose",
      "--no-color",
      "--json",
    ]);
    expect(long).toMatchObject({ code: 0, stderr: "" });
    expect(existsSync(join(project.folder, "a"))).toBe(false);
  });

  test("--verbose adds where an error comes from", async () => {
    const project = aProject();
    project.migration("0001_bad.ts", "5");
    const plain = await project.migrate(["up"]);
    const { code, stderr } = await project.migrate(["up", "--verbose"]);
    expect(code).toBe(4);
    expect(stderr.startsWith(plain.stderr)).toBe(true);
    expect(stderr).toMatch(/^ {4}at /m);
  });

  test("--verbose adds where something was thrown that nothing waits for", async () => {
    const project = aProject("own");
    project.write(
      "migrations/0001_bad.ts",
      `setTimeout(() => {\n  throw new Error("late");\n});\nawait new Promise(() => {});\n`,
    );
    const { code, stderr } = await project.migrate(["lint", "--verbose"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Error: late\n {4}at .*0001_bad\.ts\S*:2:/m);
  });
});
