/** Projects of other kinds than an ES module in TypeScript: what is written there can be loaded, checked and applied. */
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { strictConfig, typeProblems } from "../support/type-check.ts";
import { aProject, runCommand, type Project, onStderr } from "../support/project.ts";
import { columnsOf } from "../support/tables.ts";
import { initializedPackage } from "./support/npm-init.ts";

/** As `npm init -y` makes it, with more in its package.json. */
function anInitialized(more: object): Project {
  const project = aProject();
  project.write("package.json", JSON.stringify({ ...initializedPackage(), ...more }));
  return project;
}

const textOf = ({ folder }: Project, file: string) => readFileSync(join(folder, file), "utf8");

/** What matters here of what `tsc --init` writes. */
const strictest = JSON.stringify({
  compilerOptions: { module: "nodenext", target: "esnext", strict: true, verbatimModuleSyntax: true, noEmit: true },
});

const commonJs = { type: "commonjs" };
const script = "console.log(1);\n";

/** Which kind of file there is for which project: test/unit/scaffold/file-kind.test.ts. */
const kinds: readonly (readonly [string, object, Readonly<Record<string, string>>, string])[] = [
  ["CommonJS with a strict tsconfig.json", commonJs, { "tsconfig.json": strictest }, "mts"],
  ["a JavaScript ES module", { type: "module" }, { "index.js": script }, "js"],
  [
    "CommonJS with a migrations folder of ES modules",
    commonJs,
    { "index.js": script, "migrations/package.json": `{ "type": "module" }` },
    "js",
  ],
];

test.each(kinds)("in %s, migrations can be written and applied", async (_, more, files, kind) => {
  const project = anInitialized(more);
  for (const [file, text] of Object.entries(files)) project.write(file, text);
  const first = await project.migrate(["new", "create", "--create-table", "t(id int32 not null, name utf8)"]);
  const locked = "wrote migrations/lock.json\n";
  expect(first).toEqual({
    code: 0,
    stdout: `wrote migrations/0001_create.${kind}\n${locked}`,
    stderr: expect.any(String),
  });
  expect(await project.migrate(["new", "more", "--rename", "t.name:title", "--down"])).toMatchObject({
    code: 0,
    stdout: `wrote migrations/0002_more.${kind}\n${locked}`,
  });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await columnsOf(project.database, "t")).toEqual(["id: int32 not null", "title: utf8"]);
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
});

const table = ["--create-table", "t(id int32 not null, name utf8)"];

test("in JavaScript, the types are in comments", async () => {
  const project = anInitialized(commonJs);
  project.write("index.js", script);
  await project.migrate(["new", "create", ...table]);
  await project.migrate(["new", "give_names", "--rename", "t.name:title", "--down", "--accept", "lossy"]);
  expect(textOf(project, "migrations/0002_give_names.mjs")).toBe(`import { renameColumn } from "lance-migrate";

/** What it may lose. */
export const accepts = ["lossy"];

/**
 * Give names.
 *
 * @type {readonly import("lance-migrate").Step[]}
 */
export const up = [renameColumn("t", "name", "title")];

/**
 * What rolls it back.
 *
 * @type {readonly import("lance-migrate").Step[]}
 */
export const down = [renameColumn("t", "title", "name")];
`);
  project.write(
    "tsconfig.json",
    strictConfig.replace('"**/*.ts"', '"**/*.mjs"').replace("{", '{ "extends": "./checked.json",'),
  );
  project.write("checked.json", `{ "compilerOptions": { "allowJs": true, "checkJs": true } }`);
  expect(typeProblems(project.folder)).toEqual([]);
  project.write(
    "migrations/0003_wrong.mjs",
    textOf(project, "migrations/0002_give_names.mjs").replace(`[renameColumn("t", "name", "title")]`, "[1]"),
  );
  expect(typeProblems(project.folder).map(({ file }) => file)).toEqual(["migrations/0003_wrong.mjs"]);
});

test("a squashed migration and a pulled schema are JavaScript too", async () => {
  const project = anInitialized(commonJs);
  project.write("index.js", script);
  await project.migrate(["new", "create", ...table]);
  await project.migrate(["new", "more", "--rename", "t.name:title"]);
  expect(await project.migrate(["squash", "all", "--to", "2"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  rmSync(join(project.folder, "migrations"), { recursive: true });
  project.write("migrate.config.cjs", "");
  project.write("migrate.config.mjs", `export default { ledger: "other" };\n`);
  const pulled = await project.migrate(["pull"]);
  expect(pulled).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^wrote migrations\/0001_adopt\.mjs and schema\.mjs: 1 table\n/),
  });
  expect(await project.migrate(["generate", "--check"])).toMatchObject({
    code: 0,
    stdout: "equal: the migrations lead to the tables that schema.mjs declares\n",
  });
});

test("the project's own template is the one of its language", async () => {
  const project = anInitialized(commonJs);
  project.write("templates/migration.js", "// Ours.\nexport const up = [];\n");
  project.write("templates/migration.ts", "// Not this one.\nexport const up = [];\n");
  project.write("migrate.config.mjs", "export default {};\n");
  await project.migrate(["new", "create", ...table]);
  expect(textOf(project, "migrations/0001_create.mjs")).toContain("// Ours.\n");
});

test("a template that can't be loaded gives no file", async () => {
  const project = anInitialized(commonJs);
  project.write("templates/migration.ts", 'import { nothing } from "nowhere";\nexport const up = [nothing];\n');
  const refused = await project.migrate(["new", "create"]);
  expect(refused).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(/makes a file that can't be loaded: .*nowhere/),
  });
  expect(readdirSync(join(project.folder, "migrations"))).toEqual([]);
});

test("a migration of CommonJS that is an ES module is reported with the name that it needs, once", async () => {
  const project = anInitialized(commonJs);
  project.write(
    "migrations/0001_create.js",
    'import { dropTable } from "lance-migrate";\nexport const up = [dropTable("t")];\n',
  );
  const { code, stderr } = await project.migrate(["lint"]);
  expect({ code, stderr }).toEqual({ code: 4, stderr: expect.not.stringContaining("Warning") });
  expect((await project.migrate(["up"])).stderr).toMatch(
    /^0001_create\.js can't be loaded: [^\n]*; put "type": "module" into its package\.json, or name the file \.mjs\n$/,
  );
});

test.each([
  ["a function", '(text, file) => (file.endsWith(".js") ? `// Formatted.\\n${text}` : "")'],
  ["a command", '"node format.js --write"'],
])("%s formats what is written", async (_, format) => {
  const project = anInitialized({ type: "module" });
  project.write(
    "format.js",
    `import { readFileSync, writeFileSync } from "node:fs";
const file = process.argv[3];
writeFileSync(file, "// Formatted.\\n" + readFileSync(file, "utf8"));
`,
  );
  project.write("migrate.config.js", `export default { migrations: "my migrations", format: ${format} };\n`);
  await project.migrate(["new", "create", ...table]);
  await project.migrate(["up"]);
  expect(textOf(project, "my migrations/0001_create.js")).toMatch(/^\/\/ Formatted\.\nimport /);
  project.write("migrate.config.js", `export default { ledger: "other", format: ${format} };\n`);
  expect(await project.migrate(["pull"])).toMatchObject({ code: 0 });
  expect(textOf(project, "schema.js")).toMatch(/^\/\/ Formatted\.\nimport /);
});

test.each([
  ["() => { throw new Error('no parser'); }", "the function failed: no parser"],
  ["() => 7", "the function must give the text"],
  [`"node -e 'console.error(1);process.exit(3)'"`, "node -e 'console.error(1);process.exit(3)' ended with 3: 1"],
])("with the formatter %s, nothing is written", async (format, problem) => {
  const project = anInitialized({ type: "module" });
  project.write("migrate.config.js", `export default { format: ${format} };\n`);
  expect(await project.migrate(["new", "create", ...table])).toEqual({
    code: 2,
    stdout: "",
    stderr: `the formatter of the setting format can't be used: ${problem}; nothing is written\n`,
  });
  expect(readdirSync(join(project.folder, "migrations"))).toEqual([]);
});

test("in a monorepo, the formatter may be installed at the top", async () => {
  const project = anInitialized({ type: "module" });
  project.write("node_modules/.bin/add-comment", `#!/bin/sh\necho "// Formatted." >> "$1"\n`);
  chmodSync(join(project.folder, "node_modules/.bin/add-comment"), 0o755);
  project.write("packages/app/migrate.config.js", `export default { format: "add-comment" };\n`);
  const folder = join(project.folder, "packages/app");
  expect(await runCommand({ folder, args: ["new", "create", ...table] }, "shared")).toMatchObject({ code: 0 });
  expect(textOf(project, "packages/app/migrations/0001_create.js")).toMatch(/\n\/\/ Formatted\.\n$/);
});

test("a formatter that changes what the steps mean is refused", async () => {
  const project = anInitialized({ type: "module" });
  project.write("migrate.config.js", `export default { format: (text) => text.replaceAll("int32", "int64") };\n`);
  expect(await project.migrate(["new", "create", ...table])).toMatchObject(
    onStderr(2, "makes a file that has other steps than it was given"),
  );
  expect(existsSync(join(project.folder, "migrations/0001_create.js"))).toBe(false);
});

/** Deno and Bun have parts of node:module only. */
const less = `data:text/javascript,import module, { syncBuiltinESMExports } from "node:module";
delete module.enableCompileCache; delete module.registerHooks; syncBuiltinESMExports();`;

test("where node:module has neither a compile cache nor hooks, migrations are written and applied", async () => {
  const project = aProject();
  project.write("index.js", script);
  const env = { NODE_OPTIONS: `--import ${JSON.stringify(less.replaceAll("\n", ""))}` };
  expect(await project.migrate(["new", "create", ...table], env)).toMatchObject({ code: 0, stderr: "" });
  project.migration("0002_more.ts", `m.renameColumn("t", "name", "title")`);
  expect(await project.migrate(["up"], env)).toMatchObject({ code: 0 });
  expect(await columnsOf(project.database, "t")).toEqual(["id: int32 not null", "title: utf8"]);
  expect(await project.migrate(["down"], env)).toMatchObject({ code: 0 });
});
