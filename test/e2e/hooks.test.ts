/** Hooks of the configuration: what they get, and what the run does when one of them throws. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, type Project, onStderr, onStdout } from "../support/project.ts";
import { ofThisCommit } from "../support/rounds.ts";
import { addRows, rowsOf } from "../support/tables.ts";

const first = { version: 1, name: "documents" };
const second = { version: 2, name: "views" };

/** Two migrations, which would run as a group without hooks. Each hook writes a line, and throws if a file says so. */
function withHooks(names = ["beforeRun", "afterRun", "beforeMigration", "afterMigration"]): Project {
  const project = aProject();
  const hooks = names.map((name) => `${name}: (given) => call("${name}", given)`).join(", ");
  project.write(
    "migrate.config.ts",
    `import { appendFileSync, existsSync } from "node:fs";
const call = (hook, { signal, duration, error, ...given }) => {
  const more = { ...(duration >= 0 && { duration: true }), ...(error && { error: error.code }), signal: signal instanceof AbortSignal };
  appendFileSync("calls", JSON.stringify([hook, { ...given, ...more }]) + "\\n");
  for (const refusal of [hook, hook + " " + given.version]) if (existsSync(refusal)) throw new Error("the pager is off");
};
export default { targets: { local: { kind: "lance", uri: ".lancedb" } }, hooks: { ${hooks} } };
`,
  );
  project.migration("0001_documents.ts", `m.createTable("documents", { id: m.int32(), text: m.utf8() })`);
  project.migration("0002_views.ts", `m.addColumn("documents", "views", m.int32())`);
  return project;
}

/** The calls since the last time. */
function calls(project: Project): readonly (readonly [hook: string, given: Readonly<Record<string, unknown>>])[] {
  const file = join(project.folder, "calls");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  rmSync(file);
  return lines.map((line) => JSON.parse(line) as [string, Record<string, unknown>]);
}

const place = { target: "local", direction: "up", signal: true };

test("hooks are called around the run and around each migration", async () => {
  const project = withHooks();
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const migrations = [first, second];
  expect(calls(project)).toEqual([
    ["beforeRun", { ...place, migrations }],
    ["beforeMigration", { ...place, ...first }],
    ["afterMigration", { ...place, ...first, duration: true }],
    ["beforeMigration", { ...place, ...second }],
    ["afterMigration", { ...place, ...second, duration: true }],
    ["afterRun", { ...place, migrations, ended: migrations, duration: true }],
  ]);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(calls(project), "nothing is pending").toEqual([]);
  expect(await project.migrate(["down", "--to", "0"])).toMatchObject({ code: 0 });
  expect(calls(project).map(([hook, { version, direction }]) => [hook, version, direction])).toEqual([
    ["beforeRun", undefined, "down"],
    ["beforeMigration", 2, "down"],
    ["afterMigration", 2, "down"],
    ["beforeMigration", 1, "down"],
    ["afterMigration", 1, "down"],
    ["afterRun", undefined, "down"],
  ]);
});

test("commands that change no database call no hook", async () => {
  const project = withHooks();
  for (const args of [["plan"], ["up", "--dry-run"], ["rehearse"], ["status"], ["lint"]])
    expect(await project.migrate(args)).toMatchObject({ code: 0 });
  expect(calls(project)).toEqual([]);
});

test("without hooks for each migration, migrations still run as a group", async () => {
  const project = withHooks(["beforeRun", "afterRun"]);
  const { stdout } = await project.migrate(["up"]);
  expect(stdout).toContain("group of 2");
  expect(calls(project).map(([hook]) => hook)).toEqual(["beforeRun", "afterRun"]);
});

interface Refused {
  readonly code: number;
  readonly name: "ERR_HOOK_REFUSED" | "ERR_HOOK_FAILED";
  readonly error: string;
  readonly applied: number;
  readonly called: readonly string[];
}

const cases: Readonly<Record<string, Refused>> = {
  beforeRun: {
    code: 4,
    name: "ERR_HOOK_REFUSED",
    error: "the hook beforeRun failed: the pager is off; nothing was applied; fix the cause and run migrate up again",
    applied: 0,
    called: ["beforeRun"],
  },
  "beforeMigration 1": {
    code: 4,
    name: "ERR_HOOK_REFUSED",
    error:
      "the hook beforeMigration failed for 0001_documents: the pager is off; nothing was applied; fix the cause and run migrate up again",
    applied: 0,
    called: ["beforeRun", "beforeMigration", "afterRun"],
  },
  "beforeMigration 2": {
    code: 1,
    name: "ERR_HOOK_FAILED",
    error:
      "the hook beforeMigration failed for 0002_views: the pager is off; this run has applied 0001_documents, and 1 migration is left; fix the cause, and run migrate up again for what is left",
    applied: 1,
    called: ["beforeRun", "beforeMigration", "afterMigration", "beforeMigration", "afterRun"],
  },
  "afterMigration 1": {
    code: 1,
    name: "ERR_HOOK_FAILED",
    error:
      "the hook afterMigration failed for 0001_documents: the pager is off; this run has applied 0001_documents, and 1 migration is left; fix the cause, and run migrate up again for what is left",
    applied: 1,
    called: ["beforeRun", "beforeMigration", "afterMigration", "afterRun"],
  },
  afterRun: {
    code: 1,
    name: "ERR_HOOK_FAILED",
    error:
      "the hook afterRun failed: the pager is off; this run has applied 0001_documents, 0002_views, and the run is complete; fix the cause, and do by hand what the hook would have done: migrate up does not call it again for what is applied",
    applied: 2,
    called: ["beforeRun", "beforeMigration", "afterMigration", "beforeMigration", "afterMigration", "afterRun"],
  },
};

/** For each commit half of them: all end by the same code. */
test.each(ofThisCommit(Object.entries(cases), 2))("%s throws", async (hook, { code, name, error, applied, called }) => {
  const project = withHooks();
  project.write(hook, "");
  const ended = await project.migrate(["up", "--json"]);
  expect(ended).toMatchObject({ code });
  expect(JSON.parse(ended.stdout.trimEnd().split("\n").at(-1)!)).toEqual({
    event: "error",
    code: name,
    message: error,
  });
  expect(calls(project).map(([name]) => name)).toEqual(called);
  const { stdout } = await project.migrate(["status", "--json"]);
  const status = JSON.parse(stdout) as { applied: unknown[]; holder?: string };
  expect(status).toMatchObject({ applied: { length: applied } });
  expect(status.holder, "the lease is released").toBeUndefined();
  // The next run has no need to wait for anything, and finishes.
  rmSync(join(project.folder, hook));
  expect(await project.migrate(["up", "--wait", "0"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
});

test("a hook that throws between two rollbacks leaves the rest applied, and down continues", async () => {
  const project = withHooks();
  await project.migrate(["up"]);
  project.write("afterMigration 2", "");
  expect(await project.migrate(["down", "--to", "0"])).toMatchObject(
    onStderr(1, "this run has rolled back 0002_views"),
  );
  project.write("beforeMigration 1", "");
  expect(await project.migrate(["down", "--to", "0", "--wait", "0"])).toMatchObject({ code: 4 });
  for (const hook of ["afterMigration 2", "beforeMigration 1"]) rmSync(join(project.folder, hook));
  expect(await project.migrate(["down", "--to", "0", "--wait", "0"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["up", "--wait", "0"])).toMatchObject({ code: 0 });
});

test("a hook that throws before a half-done migration leaves it half-done", async () => {
  const project = withHooks();
  await project.migrate(["up"]);
  await addRows(project.database, "documents", [
    { id: 1, text: "a" },
    { id: 2, text: "bb" },
  ]);
  const code = `import { existsSync } from "node:fs";
export default (rows) => { if (!existsSync("go")) throw new Error("not yet"); return rows.map(({ text }) => text.length); };
`;
  project.write("copy.ts", code);
  const backfill = `m.backfillColumn("documents", "copy", { from: ["text"], key: "id", with: "./copy.ts", version: "1" })`;
  project.migration("0003_copy.ts", `m.addColumn("documents", "copy", m.int32()), ${backfill}`);
  expect(await project.migrate(["up"])).toMatchObject(onStderr(1, "not yet"));
  project.write("beforeMigration 3", "");
  expect(await project.migrate(["up", "--wait", "0"])).toMatchObject({ code: 4 });
  const { stdout } = await project.migrate(["status", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ pending: [{ version: 3, done: 1 }] });
  rmSync(join(project.folder, "beforeMigration 3"));
  project.write("go", "");
  expect(await project.migrate(["up", "--wait", "0"])).toMatchObject({ code: 0 });
  expect(await rowsOf(project.database, "documents")).toMatchObject([{ copy: 1 }, { copy: 2 }]);
});

test("afterRun gets the error of the run, and its own error does not replace it", async () => {
  const project = withHooks();
  for (const hook of ["beforeMigration 2", "afterRun"]) project.write(hook, "");
  const { code, stderr, stdout } = await project.migrate(["up", "--json"]);
  expect(code).toBe(1);
  const events = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(events.slice(-2)).toMatchObject([
    { event: "hookFailed", problem: expect.stringMatching(/^the hook afterRun failed: the pager is off/) as string },
    { event: "error", code: "ERR_HOOK_FAILED" },
  ]);
  expect(stderr).toContain("beforeMigration");
  expect(calls(project).at(-1)).toEqual([
    "afterRun",
    { ...place, migrations: [first, second], ended: [first], duration: true, error: "ERR_HOOK_FAILED" },
  ]);
});

test("a hook that throws because the run was asked to stop interrupts the run", async () => {
  const project = aProject();
  const hook = `async ({ signal }) => {
    const open = setInterval(() => {}, 1000);
    process.kill(process.pid, "SIGTERM");
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    clearInterval(open);
    throw signal.reason;
  }`;
  for (const name of ["0001_a", "0002_b"])
    project.migration(`${name}.ts`, `m.createTable("${name}", { id: m.int32() })`);
  for (const [name, applied] of [
    ["beforeRun", 0],
    ["beforeMigration", 0],
    ["afterMigration", 1],
  ] as const) {
    project.write("migrate.config.ts", `export default { hooks: { ${name}: ${hook} } };`);
    expect(await project.start(["up", "--wait", "0"]).finished, name).toMatchObject(
      onStderr(130, "run migrate up to continue"),
    );
    const { stdout } = await project.migrate(["status", "--json"]);
    expect(JSON.parse(stdout), name).toMatchObject({ applied: { length: applied } });
  }
  project.write("migrate.config.ts", `export default {};`);
  expect(await project.migrate(["up", "--wait", "0"])).toMatchObject({ code: 0 });
});

/** Two migrations, and a hook that returns a promise that nothing can settle. */
function withStuckHook(settings = ""): Project {
  const project = aProject();
  const hooks = `{ afterMigration: ({ database }) => database === "acme" ? undefined : new Promise(() => {}) }`;
  project.write("migrate.config.ts", `export default { hooks: ${hooks}, ${settings} };`);
  for (const name of ["0001_a", "0002_b"])
    project.migration(`${name}.ts`, `m.createTable("${name}", { id: m.int32() })`);
  return project;
}

test("a hook with a promise that nothing can settle fails, and leaves the lease free", async () => {
  const project = withStuckHook();
  const { code, stdout } = await project.start(["up", "--json"]).finished;
  expect({ code, error: JSON.parse(stdout.trimEnd().split("\n").at(-1)!) }).toEqual({
    code: 1,
    error: {
      event: "error",
      code: "ERR_HOOK_FAILED",
      message:
        "the hook afterMigration failed for 0001_a: it awaits something that never comes; this run has applied 0001_a, and 1 migration is left; fix the cause, and run migrate up again for what is left",
    },
  });
  project.write("migrate.config.ts", `export default {};`);
  expect(await project.migrate(["up", "--wait", "0"])).toMatchObject(onStdout(0, "1 migration applied"));
});

test("of several databases, those whose hook can't end are named, and the others are migrated", async () => {
  const tenants = `{ kind: "lance", uri: "tenants/{database}", databases: ["acme", "globex", "initech"] }`;
  const project = withStuckHook(`targets: { tenants: ${tenants} }`);
  const { code, stdout, stderr } = await project.start(["up"]).finished;
  expect({ code, stdout }).toMatchObject(onStdout(1, "acme"));
  for (const database of ["globex", "initech"])
    expect(stdout + stderr).toMatch(new RegExp(`${database}.*the hook afterMigration failed for 0001_a: it awaits`));
});

test("a wait for what can never happen is an error, and not a success", async () => {
  const project = withStuckHook();
  const broken = `Promise.allSettled = () => new Promise(() => {});`;
  project.write("migrate.config.ts", `${broken} export default { hooks: { afterMigration() {} } };`);
  const { code, stdout, stderr } = await project.start(["up", "--json"]).finished;
  expect({ code, error: JSON.parse(stdout.trimEnd().split("\n").at(-1)!) }).toMatchObject({
    code: 1,
    error: { event: "error", code: "ERR_UNFINISHED" },
  });
  expect(stderr).toContain("waits for something that never happens");
});

test("a hook that stops a saved plan leaves it to be run again", async () => {
  const project = withHooks();
  const plan = async () => await project.migrate(["plan", "--out", "plan.json"]);
  const up = async () => await project.migrate(["up", "--plan", "plan.json"]);
  expect(await plan()).toMatchObject({ code: 0 });
  project.write("beforeRun", "");
  expect(await up()).toMatchObject(onStderr(4, "; nothing was applied; fix the cause and run migrate up again"));
  rmSync(join(project.folder, "beforeRun"));
  project.write("afterMigration 1", "");
  expect((await up()).stderr).toContain(
    "1 migration is left; fix the cause, and run migrate up again for what is left",
  );
  rmSync(join(project.folder, "afterMigration 1"));
  expect(await up()).toMatchObject(onStdout(0, "1 migration applied"));
});
