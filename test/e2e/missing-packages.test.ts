/** Packages that only some projects need: where they are looked for, and what is reported if one is missing. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { root, startNode, temporaryFolder, type Finished } from "../support/project.ts";
import { rounds } from "../support/rounds.ts";

const files = {
  "package.json": `{ "type": "module" }`,
  "migrations/0001_documents.ts": `export const up = [{ kind: "createTable", table: "t", columns: [{ name: "id", type: { kind: "int32" }, nullable: true }] }];`,
};

interface Alone {
  readonly folder: string;
  migrate(...args: string[]): Promise<Finished>;
}

/** A project with a copy of the built package in `tool`, which finds no package of this repository. */
function alone(more: Readonly<Record<string, string>> = {}, tool = "node_modules/lance-migrate"): Alone {
  const home = temporaryFolder();
  const folder = join(home, "project");
  mkdirSync(join(folder, ".lancedb"), { recursive: true });
  for (const [path, text] of Object.entries({ ...files, ...more })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  for (const part of ["dist", "templates", "package.json"])
    cpSync(join(root, part), join(folder, tool, part), { recursive: true });
  const env = { MIGRATE_API_KEY: "a-key-that-nobody-may-see" };
  const bin = join(folder, tool, "dist/bin.js");
  return { folder, migrate: (...args) => startNode([bin, ...args], folder, env).finished };
}

const engine = (version: string, code: string) => ({
  "node_modules/@lancedb/lancedb/package.json": `{ "version": "${version}", "main": "dist/index.js" }`,
  "node_modules/@lancedb/lancedb/dist/index.js": code,
  "node_modules/@lancedb/lancedb/dist/native.js": code,
});

/** What the engine imports; Yarn does not install it with the engine. */
const arrow = {
  "node_modules/apache-arrow/package.json": `{ "main": "index.js" }`,
  "node_modules/apache-arrow/index.js": "",
};

const missing =
  "tables in a folder or an object store need the package @lancedb/lancedb, which is not installed; " +
  "run: npm install @lancedb/lancedb@0.39\n";

test.each([{ args: ["up"] }, { args: ["serve", "--data", "data"], packages: ["fastify", "@fastify", "workerpool"] }])(
  "without the engine, migrate $args.0 names the command that installs it",
  async ({ args, packages = [] }) => {
    const { folder, migrate } = alone();
    for (const name of packages) symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
    expect(await migrate(...args, "--json")).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('"ERR_ENGINE_MISSING"'),
      stderr: missing,
    });
  },
);

/** The first two differ in more than a word: Yarn installs no peers, and a lock file may be in a folder above. */
const locks = [
  { lock: "yarn.lock", install: "yarn add @lancedb/lancedb@0.39 apache-arrow@18.1.0" },
  { lock: "../pnpm-lock.yaml", install: "pnpm add @lancedb/lancedb@0.39" },
  { lock: "pnpm-lock.yaml", install: "pnpm add @lancedb/lancedb@0.39" },
  { lock: "bun.lock", install: "bun add @lancedb/lancedb@0.39" },
  { lock: "deno.lock", install: "deno add npm:@lancedb/lancedb@0.39" },
];

test.each(locks.slice(0, rounds(2, locks.length)))(
  "with $lock, the command is that of its package manager",
  async ({ lock, install }) => {
    const { code, stderr } = await alone({ [lock]: "" }).migrate("up");
    expect([code, stderr]).toEqual([2, expect.stringContaining(`; run: ${install}\n`)]);
  },
);

test("an engine without its native part is reported as such", async () => {
  const broken = engine("0.39.1", `throw new Error("Cannot find native binding. npm has a bug");`);
  const { code, stdout, stderr } = await alone({ ...broken, ...arrow }).migrate("up", "--json");
  expect(stdout).toContain('"ERR_ENGINE_UNLOADABLE"');
  expect([code, stderr]).toEqual([2, expect.stringContaining("can't be loaded on ")]);
  expect(stderr).toContain("Cannot find native binding");
});

test("an engine without its peer dependency, which Yarn does not install, is reported as such", async () => {
  const { migrate } = alone({ ...engine("0.39.0", `require("apache-arrow");`), "yarn.lock": "" });
  const { code, stdout, stderr } = await migrate("up", "--json");
  expect(stdout).toContain('"ERR_PACKAGES_MISSING"');
  const says = "@lancedb/lancedb needs apache-arrow, which is not installed; run: yarn add apache-arrow@18.1.0\n";
  expect([code, stderr]).toEqual([2, says]);
  const { next } = JSON.parse((await migrate("init", "--yes", "--json")).stdout) as { next: readonly string[] };
  expect(next[0]).toBe("yarn add apache-arrow@18.1.0");
});

test("the peer dependency that is named is the one that the engine accepts", () => {
  const of = (name: string) =>
    JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")) as {
      version: string;
      peerDependencies: Readonly<Record<string, string>>;
    };
  expect(of("@lancedb/lancedb").peerDependencies["apache-arrow"]).toMatch(/<=18\.1\.0$/);
  expect(of("apache-arrow").version).toBe("18.1.0");
});

test("the project's engine is used, although the command is installed elsewhere", async () => {
  const { folder, migrate } = alone({}, "../elsewhere/node_modules/lance-migrate");
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(join(root, "node_modules/@lancedb"), join(folder, "node_modules/@lancedb"));
  expect(await migrate("up", "--quiet")).toMatchObject({ code: 0, stderr: "" });
});

test("the engine beside the command is used if that of the project has another version", async () => {
  const tool = "../elsewhere/node_modules/lance-migrate";
  const { folder, migrate } = alone(engine("0.38.0", ""), tool);
  symlinkSync(join(root, "node_modules/@lancedb"), join(folder, tool, "../@lancedb"));
  expect(await migrate("up", "--quiet")).toMatchObject({ code: 0, stderr: "" });
});

const serve = ["serve", "--data", "data"];
const servePackages = "fastify@5 @fastify/swagger@9 workerpool@10";
const template = { "templates/migration.ts": "export const up = [];\n" };

test.each([
  { what: "migrate serve", args: serve, more: {}, packages: servePackages },
  { what: "new with a template of the project", args: ["new", "more"], more: template, packages: "ts-morph@28" },
])("$what names the packages that it lacks", async ({ args, more, packages }) => {
  const { code, stdout, stderr } = await alone(more).migrate(...args, "--json");
  expect(stdout).toContain('"ERR_PACKAGES_MISSING"');
  expect([code, stderr]).toEqual([2, expect.stringMatching(/ not installed; run: npm install /)]);
  expect(stderr).toContain(`${packages}\n`);
});

test("migrations and schema.ts are written without ts-morph", async () => {
  const { folder, migrate } = alone();
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  symlinkSync(join(root, "node_modules/@lancedb"), join(folder, "node_modules/@lancedb"));
  expect(await migrate("new", "later")).toMatchObject({
    code: 0,
    stdout: "wrote migrations/0002_later.ts\nwrote migrations/lock.json\n",
  });
  rmSync(join(folder, "migrations/0002_later.ts"));
  expect(await migrate("new", "more", "--rename", "t.id:key")).toMatchObject({ code: 0 });
  expect(await migrate("up", "--quiet")).toMatchObject({ code: 0, stderr: "" });
  expect(await migrate("squash", "all", "--to", "2")).toMatchObject({ code: 0 });
  for (const path of ["migrations", ".lancedb/_migrations.lance"]) rmSync(join(folder, path), { recursive: true });
  expect(await migrate("pull")).toMatchObject({ code: 0 });
  expect(await migrate("generate", "--check")).toMatchObject({ code: 0 });
});

test("rebase renumbers without ts-morph, and the dry run ends as the run does where steps must be rewritten", async () => {
  const { folder, migrate } = alone();
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: folder, stdio: "pipe" });
  const commit = async (...args: readonly string[]) => {
    expect(await migrate(...args)).toMatchObject({ code: 0 });
    git("add", "migrations");
    git("commit", "--quiet", "--message", "more");
  };
  git("init", "--quiet", "--initial-branch", "main");
  await commit("lint", "--write");
  git("checkout", "--quiet", "-b", "own");
  await commit("new", "mine", "--add-column", "t.mine:utf8");
  git("checkout", "--quiet", "main");
  await commit("new", "theirs", "--add-column", "t.theirs:utf8");
  git("checkout", "--quiet", "own");
  expect(() => git("merge", "main")).toThrow();
  expect(await migrate("rebase", "--dry-run")).toMatchObject({ code: 0 });
  const own = join(folder, "migrations/0002_mine.ts");
  const text = readFileSync(own, "utf8");
  writeFileSync(own, `const steps = [];\n${text.replace("export const up", "const up")}export { up };\n`);
  for (const flags of [["--dry-run"], []])
    expect(await migrate("rebase", ...flags)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("ts-morph, which is not installed"),
    });
  writeFileSync(own, text);
  expect(await migrate("rebase")).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, "migrations/0003_mine.ts"), "utf8")).toContain("export const was = [");
});

test("init names everything that is missing in one command", async () => {
  const { folder, migrate } = alone({ "pnpm-lock.yaml": "" });
  const install = "pnpm add @lancedb/lancedb@0.39";
  const applying = ["pnpm exec migrate plan", "pnpm exec migrate up"];
  const next = async () => (JSON.parse((await migrate("init", "--yes", "--json")).stdout) as { next: unknown }).next;
  expect(await next()).toEqual([install, ...applying]);
  rmSync(join(folder, "migrations"), { recursive: true });
  expect(await next()).toEqual([install, ...applying]);
});
