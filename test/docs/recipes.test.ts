/** The recipes of docs/internals/extending.md, as they are written there, all in one copy of the sources. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { root, temporaryFolderOfFile } from "../support/project.ts";
import { compile, copySources, follow, migrateIn, recipes } from "./recipes.ts";

const copy = copySources(temporaryFolderOfFile(), "templates");
for (const name of recipes.keys()) follow(copy, name);

test.each([...recipes])("%s takes one new file or folder, and one line", (_, parts) => {
  const files = parts.filter(({ isNew }) => isNew).map(({ file }) => file);
  const folders = [...new Set(files.map(dirname))];
  const isNewFolder = folders.length === 1 && !existsSync(join(root, folders[0]!));
  expect(isNewFolder ? folders.length : files.length).toBeLessThanOrEqual(1);
  expect(parts.filter(({ isNew }) => !isNew).map(({ code }) => code.trim().split("\n").length)).toEqual([1]);
});

test("with all of them, the sources compile", () => {
  expect(compile(copy)).toBe("");
});

/** The JSON that a program in the copy prints. */
function printed(program: string): unknown {
  const file = join(mkdtempSync(join(copy, "program-")), "program.ts");
  writeFileSync(file, program.replaceAll('"./src/', '"../src/'));
  const { stdout, stderr } = spawnSync(process.execPath, [file], { cwd: dirname(file), encoding: "utf8" });
  return stdout === "" ? stderr : JSON.parse(stdout);
}

/** A project whose migrations import the copy. They are JavaScript, because `new` would type-check TypeScript again. */
function aProjectOfCopy(table = "documents", config = "{}") {
  const folder = mkdtempSync(join(copy, "project-"));
  mkdirSync(join(folder, "migrations"));
  const first = `import { createTable, int32 } from "lance-migrate";\nexport const up = [createTable("${table}", { id: int32().notNull() })];\n`;
  writeFileSync(join(folder, "migrations/0001_first.js"), first);
  writeFileSync(join(folder, "migrate.config.ts"), `export default ${config};\n`);
  return { folder, migrate: (...args: readonly string[]) => migrateIn(copy, args, folder) };
}

test("a new step kind is written by its flag, loaded and applied, and a new command lists the tables", () => {
  const { folder, migrate } = aProjectOfCopy();
  expect(migrate("new", "second", "--drop-not-null", "documents.id")).toMatchObject({ status: 0 });
  expect(readFileSync(join(folder, "migrations/0002_second.js"), "utf8")).toContain('dropNotNull("documents", "id")');
  expect(migrate("up")).toMatchObject({ status: 0, stdout: expect.stringContaining("2 migrations applied") });
  expect(migrate("tables").stdout.split("\n")).toContain("documents");
});

test("a new target applies migrations", () => {
  const { migrate } = aProjectOfCopy("documents", '{ targets: { trial: { kind: "memory" } } }');
  expect(migrate("up")).toMatchObject({ status: 0, stdout: expect.stringContaining("1 migration applied") });
});

test("a new feature has a command, and its JSON is described", () => {
  expect(migrateIn(copy, ["hello"])).toMatchObject({ status: 0, stdout: "hello, world\n" });
  const { stdout } = migrateIn(copy, ["hello", "--json"]);
  const program = `
    import { documents } from "./src/main/commands/documents.ts";
    console.log(JSON.stringify(documents.hello.parse(${stdout})));`;
  expect(printed(program)).toEqual({ greeted: "world" });
});

test("a new lint rule reports", () => {
  expect(aProjectOfCopy("Documents").migrate("lint").stdout).toContain("tables-in-capitals");
});

test("a new executor replaces calls of the target", () => {
  const program = `
    import * as executors from "./src/features/embed/executors.ts";
    import { withExecutors } from "./src/run/executors.ts";
    const sent = [];
    const target = { tableSize: async (table) => ({ rows: table.length }), execute: async ({ table }) => void sent.push(table) };
    const { execute } = withExecutors(target, executors, {});
    for (const table of ["", "full"]) await execute({ kind: "optimizeTable", table });
    console.log(JSON.stringify(sent));`;
  expect(printed(program)).toEqual(["full"]);
});

test("a new error has its sentence and its exit code", () => {
  const program = `
    import { MigrateError } from "./src/errors/migrate-error.ts";
    import { exitCodeOf } from "./src/cli/command/exit-code.ts";
    const error = new MigrateError("ERR_TARGET_BUSY", { target: "shop" });
    console.log(JSON.stringify([exitCodeOf(error), error.message]));`;
  expect(printed(program)).toEqual([4, "target shop is busy; run the command again later"]);
});
