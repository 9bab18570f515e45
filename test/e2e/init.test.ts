/** `migrate init` in projects as their package managers make them, and what can be done right after it. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lacks } from "../support/needs.ts";
import { rounds } from "../support/rounds.ts";
import { aProject, root, runCommand, temporaryFolder, type Project, onStderr } from "../support/project.ts";
import { addRows, columnsOf, lancedb } from "../support/tables.ts";
import { initializedPackage } from "./support/npm-init.ts";
import { atTerminal } from "./support/terminal.ts";

/** A project with nothing but a package.json, in which the package and the engine are installed. */
function aNewProject(more: object = {}): Project {
  const project = aProject();
  project.write("package.json", JSON.stringify({ ...initializedPackage(), ...more }));
  for (const name of ["migrations", ".lancedb"]) rmSync(join(project.folder, name), { recursive: true });
  symlinkSync(join(root, "node_modules/@lancedb"), join(project.folder, "node_modules/@lancedb"));
  return project;
}

const textOf = ({ folder }: Pick<Project, "folder">, file: string) => readFileSync(join(folder, file), "utf8");
const inGit = (project: Project) => mkdirSync(join(project.folder, ".git"));

const config = `import { defineConfig } from "lance-migrate";

export default defineConfig({
  targets: {
    local: { kind: "lance", uri: ".lancedb" },
  },
});
`;

test.each([
  ["CommonJS", {}, {}, "mts"],
  ["JavaScript in ES modules", { type: "module" }, { "src/index.js": "" }, "js"],
])("in a new project of %s, the first migration can be applied at once", async (_, more, files, kind) => {
  const project = aNewProject(more);
  inGit(project);
  for (const [file, text] of Object.entries(files)) project.write(file, text);
  const { code, stdout } = await project.migrate(["init", "--yes"]);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `wrote migrate.config.${kind}
wrote .gitignore
wrote .github/workflows/migrate.yml
wrote migrations/0001_create_documents.${kind}
wrote migrations/lock.json
next:
  npx migrate plan  shows what up will do
  npx migrate up    applies the migrations
`,
  });
  expect(textOf(project, `migrate.config.${kind}`)).toBe(config);
  expect(textOf(project, ".gitignore")).toBe("node_modules/\n.lancedb/\n");
  expect(await project.migrate(["plan"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await columnsOf(project.database, "documents")).toEqual([
    "id: int64 not null",
    "text: utf8",
    "vector: fixedSizeList<float32, 384>",
  ]);
  expect(await project.migrate(["lint"])).toMatchObject({ code: 0 });
});

test("a second run writes nothing, and what was removed is written again", async () => {
  const project = aNewProject();
  inGit(project);
  await project.migrate(["init", "--yes"]);
  project.write("migrate.config.mts", `// Mine.\n${config}`);
  const again = await project.migrate(["init", "--yes"]);
  expect(again).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^nothing to do: the project is set up\nnext:\n {2}.*migrate status {2}lists .*\n$/),
  });
  rmSync(join(project.folder, ".github"), { recursive: true });
  expect((await project.migrate(["init", "--yes"])).stdout).toMatch(/^wrote \.github\/workflows\/migrate\.yml\nnext:/);
  expect(textOf(project, "migrate.config.mts")).toContain("// Mine.");
});

test("where there are tables already, the first migration creates the same tables, and baseline marks it", async () => {
  const project = aNewProject({ type: "module" });
  await project.migrate(["init", "--yes"]);
  await project.migrate(["up"]);
  await addRows(project.database, "documents", [{ id: 1n, text: "a" }]);
  for (const file of ["migrations", "migrate.config.ts", ".lancedb/_migrations.lance"])
    rmSync(join(project.folder, file), { recursive: true });
  const { code, stdout, stderr } = await project.migrate(["init", "--yes"]);
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: `wrote migrate.config.ts
wrote migrations/0001_adopt.ts and schema.ts: 1 table
  create table documents (id int64 not null, text utf8, vector fixedSizeList<float32, 384>)
wrote migrations/lock.json
next:
  npx migrate baseline  marks the migration as applied on these tables
`,
    stderr: "found npm, TypeScript, ES modules, the table documents in .lancedb\n",
  });
  expect(await project.migrate(["baseline"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["status", "--check"])).toMatchObject({ code: 0 });
});

/** Named by a setting, and by a lock file. */
const managers = [
  ["README.md", { packageManager: "pnpm@10.1.0" }, "pnpm exec migrate up", "pnpm install --frozen-lockfile"],
  ["pnpm-lock.yaml", {}, "pnpm exec migrate up", "pnpm install --frozen-lockfile"],
  ["package-lock.json", {}, "npx migrate up", "npm ci"],
  ["yarn.lock", {}, "yarn migrate up", "yarn install --frozen-lockfile"],
  ["bun.lock", {}, "bun run migrate up", "bun install --frozen-lockfile"],
  ["deno.lock", {}, "deno run -A npm:lance-migrate/migrate up", "deno install --frozen"],
] as const;

test.each(managers.slice(0, rounds(2, managers.length)))(
  "with %s, the next commands and the workflow are those of the package manager",
  async (lock, more, up, install) => {
    const project = aNewProject(more);
    inGit(project);
    project.write(lock, "");
    const { stdout } = await project.migrate(["init", "--yes"]);
    expect(stdout).toContain(`  ${up}  `);
    const workflow = textOf(project, ".github/workflows/migrate.yml");
    expect(workflow).toContain(`- run: ${install}\n`);
    expect(workflow).toMatch(/actions\/checkout@.*\n\s+with:\n\s+#.*\n\s+persist-credentials: false\n/);
    for (const line of workflow.match(/uses: .*/g)!) expect(line).toMatch(/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    expect(workflow).toContain(`- run: ${up.replace(/ up$/, " lint --github").replace("npx", "npx --no")}\n`);
  },
);

test("the workflow uses the actions that this project uses itself", async () => {
  const project = aNewProject();
  inGit(project);
  await project.migrate(["init", "--yes"]);
  const used = (text: string): readonly string[] => text.match(/uses: actions\/\S+ # \S+/g) ?? [];
  const own = used(readFileSync(join(root, ".github/workflows/ci.yml"), "utf8"));
  const written = used(textOf(project, ".github/workflows/migrate.yml"));
  expect(written).toHaveLength(2);
  expect(written.filter((one) => !own.includes(one))).toEqual([]);
});

test("in a monorepo, the workflow is at the top and runs in the folder of the project", async () => {
  const project = aNewProject();
  inGit(project);
  project.write("pnpm-lock.yaml", "");
  project.write("packages/app/package.json", `{ "type": "module" }`);
  const folder = join(project.folder, "packages/app");
  const { code, stdout } = await runCommand({ folder, args: ["init", "--yes"] }, "shared");
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringContaining("wrote ../../.github/workflows/migrate.yml\n"),
  });
  expect(stdout).toContain("  pnpm exec migrate up ");
  expect(textOf(project, ".github/workflows/migrate.yml")).toContain('        working-directory: "packages/app"\n');
  expect(readdirSync(folder).toSorted()).toEqual([".gitignore", "migrate.config.ts", "migrations", "package.json"]);
});

test("another CI service gets no workflow for GitHub, and neither does a folder outside of git", async () => {
  const project = aNewProject();
  await project.migrate(["init", "--yes"]);
  inGit(project);
  project.write(".gitlab-ci.yml", "");
  await project.migrate(["init", "--yes"]);
  expect(existsSync(join(project.folder, ".github"))).toBe(false);
});

test("files of other tools are kept", async () => {
  const project = aNewProject({ type: "module" });
  project.write("migrations/0001_users.sql", "create table users (id int);\n");
  project.write(".gitignore", "dist");
  mkdirSync(join(project.folder, "node_modules/.bin"));
  project.write("node_modules/.bin/prettier", "#!/bin/sh\n");
  execFileSync("chmod", ["+x", join(project.folder, "node_modules/.bin/prettier")]);
  expect(await project.migrate(["init", "--yes"])).toMatchObject({ code: 0 });
  expect(readdirSync(join(project.folder, "migrations"))).toEqual(["0001_users.sql"]);
  expect(readdirSync(join(project.folder, "lance-migrations"))).toEqual(["0001_create_documents.ts", "lock.json"]);
  expect(textOf(project, ".gitignore")).toBe("dist\n.lancedb/\n");
  expect(textOf(project, "migrate.config.ts")).toBe(`import { defineConfig } from "lance-migrate";

export default defineConfig({
  migrations: "lance-migrations",
  targets: {
    local: { kind: "lance", uri: ".lancedb" },
  },
  format: "prettier --write",
});
`);
});

test("a formatter that can't run is not in the configuration", async () => {
  const project = aNewProject({ type: "module" });
  mkdirSync(join(project.folder, "node_modules/.bin"));
  project.write("node_modules/.bin/prettier", "#!/bin/sh\necho it is broken\nexit 3\n");
  execFileSync("chmod", ["+x", join(project.folder, "node_modules/.bin/prettier")]);
  expect(await project.migrate(["init", "--yes"])).toMatchObject(
    onStderr(0, "names no formatter: prettier --write ended with 3: it is broken\n"),
  );
  expect(textOf(project, "migrate.config.ts")).toBe(config);
  expect(readdirSync(project.folder).filter((file) => file.startsWith(".migrate"))).toEqual([]);
  expect(existsSync(join(project.folder, "migrations/0001_create_documents.ts"))).toBe(true);
});

test("with the address of a service in the environment, that is the target, and nothing is asked of it", async () => {
  const project = aNewProject({ type: "module" });
  const env = { MIGRATE_ENDPOINT: "http://127.0.0.1:9", MIGRATE_API_KEY: "sk-0123456789", MIGRATE_DATABASE: "d" };
  const { code, stdout } = await project.migrate(["init", "--yes"], env);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `wrote migrate.config.ts
wrote .gitignore
next:
  npx migrate doctor                tests what the target supports
  npx migrate pull                  writes the first migration from existing tables
  npx migrate new create_documents  writes a migration without steps
`,
  });
  expect(textOf(project, "migrate.config.ts")).toContain(`  targets: {
    // In the environment: MIGRATE_ENDPOINT, MIGRATE_API_KEY and MIGRATE_DATABASE.
    service: { kind: "rest", dialect: "namespace" },
  },`);
  expect((await project.migrate(["doctor"], env)).code).toBe(6);
});

test("what is not installed is named first, and the migration follows", async () => {
  const folder = temporaryFolder();
  const env = { npm_config_user_agent: "bun/1.4.5 npm/? node/v24.3.0" };
  const { code, stdout } = await runCommand({ folder, args: ["init", "--yes"], env }, "own");
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `wrote migrate.config.ts
wrote .gitignore
next:
  bun add lance-migrate  installs what is missing
  bun run migrate init   writes the first migration
`,
  });
});

test("--json has one document", async () => {
  const project = aNewProject({ type: "module" });
  const { code, stdout } = await project.migrate(["init", "--yes", "--json"]);
  expect({ code, document: JSON.parse(stdout) as unknown }).toEqual({
    code: 0,
    document: {
      written: ["migrate.config.ts", ".gitignore", "migrations/0001_create_documents.ts", "migrations/lock.json"],
      next: ["npx migrate plan", "npx migrate up"],
    },
  });
});

test("tables in a folder that is named are pulled, and a folder that does not exist yet is noted", async () => {
  const project = aNewProject({ type: "module" });
  await (await lancedb.connect(join(project.folder, "data/shop"))).createTable("books", [{ id: 1 }]);
  expect(await project.migrate(["init", "data/shop", "--yes"])).toMatchObject(
    onStderr(0, "the table books in data/shop"),
  );
  expect(textOf(project, "migrate.config.ts")).toContain('local: { kind: "lance", uri: "data/shop" }');
  expect(await project.migrate(["baseline"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["init", "data/other", "--yes"])).toMatchObject({
    code: 2,
    stderr: "the configuration states where the tables are already\n",
  });
  const other = aNewProject({ type: "module" });
  expect(await other.migrate(["init", "data/shp", "--yes"])).toMatchObject(
    onStderr(0, "note: data/shp does not exist yet; migrate up creates it\n"),
  );
});

test("tables in another folder of the project are named, and without questions nothing is written then", async () => {
  const project = aNewProject({ type: "module" });
  for (const folder of ["data/shop", "node_modules/other", ".cache", "a/b/deep"])
    await (await lancedb.connect(join(project.folder, folder))).createTable("books", [{ id: 1 }]);
  expect(await project.migrate(["init", "--yes"])).toEqual({
    code: 2,
    stdout: "",
    stderr:
      "found npm, TypeScript, ES modules, tables in data/shop\n" +
      "there are tables in data/shop and none in .lancedb; run migrate init data/shop --yes, or migrate init .lancedb --yes\n",
  });
  expect(existsSync(join(project.folder, "migrate.config.ts"))).toBe(false);
  expect(await project.migrate(["init", ".lancedb", "--yes"])).toMatchObject({ code: 0 });
});

test.skipIf(lacks("terminal"))("at a terminal, another folder with tables is what Enter chooses", async () => {
  const project = aNewProject({ type: "module" });
  project.write("index.js", "");
  await (await lancedb.connect(join(project.folder, "data"))).createTable("books", [{ id: 1 }]);
  const { code, shown } = await atTerminal(project, "init", /\) /, ["\n", "\n"]);
  expect(shown).toContain("where are the tables: a folder, s3://… or https://…? (data) ");
  expect(code).toBe(0);
  expect(textOf(project, "migrate.config.js")).toContain('local: { kind: "lance", uri: "data" }');
});

test("without a terminal, and without --yes, nothing is written", async () => {
  const project = aNewProject();
  expect(await project.migrate(["init"])).toEqual({
    code: 2,
    stdout: "",
    stderr: "migrate init asks questions at a terminal; with --yes it asks nothing\n",
  });
  expect(readdirSync(project.folder).toSorted()).toEqual(["node_modules", "package.json"]);
});

test.skipIf(lacks("terminal"))(
  "at a terminal, it asks where the tables are, for the first table and about a workflow",
  async () => {
    const project = aNewProject({ type: "module" });
    project.write("index.js", "");
    inGit(project);
    const lines = ["data\n", "bad name\n", "books\n", "perhaps\n", "n\n"];
    const { code, shown } = await atTerminal(project, "init", /\) /, lines);
    expect(shown).toContain("bad name may hold only letters");
    expect(shown).toContain("answer y or n");
    expect(code).toBe(0);
    expect(textOf(project, "migrate.config.js")).toContain('local: { kind: "lance", uri: "data" }');
    expect(textOf(project, ".gitignore")).toContain("data/\n");
    expect(existsSync(join(project.folder, ".github"))).toBe(false);
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    expect(await columnsOf(join(project.folder, "data"), "books")).toHaveLength(3);
  },
);

test.skipIf(lacks("terminal"))(
  "at a terminal, Enter takes what fits what is found, and tables are pulled",
  async () => {
    const project = aNewProject({ type: "module" });
    project.write("index.js", "");
    inGit(project);
    await project.migrate(["init", "--yes"]);
    await project.migrate(["up"]);
    for (const file of ["migrations", "migrate.config.js", ".github", ".lancedb/_migrations.lance"])
      rmSync(join(project.folder, file), { recursive: true });
    const { code, shown } = await atTerminal(project, "init", /\) /, ["\n", "\n", "\n"]);
    expect(shown).toContain("write the first migration from the 1 table in .lancedb? (Y/n)");
    expect(code).toBe(0);
    expect(existsSync(join(project.folder, "migrations/0001_adopt.js"))).toBe(true);
    expect(existsSync(join(project.folder, ".github/workflows/migrate.yml"))).toBe(true);
  },
);
