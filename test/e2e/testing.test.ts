/** `lance-migrate/testing`, and the examples of docs/testing.md. */
import { execFileSync, type ExecFileSyncOptions } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { officialPackages, pythonWith } from "../clients/client.ts";
import { blocksOf } from "../docs/blocks.ts";
import { lacks } from "../support/needs.ts";
import { aProject, root, type Project, onStdout } from "../support/project.ts";

const page = "docs/testing.md";
const blocks = blocksOf(page, readFileSync(join(root, page), "utf8"));

/** A project of two migrations, with these packages and a folder for temporary files of its own. */
function anApplication(...packages: readonly string[]): Project & { run(file: string, ...args: string[]): string } {
  const project = aProject();
  for (const name of packages)
    symlinkSync(join(root, "node_modules", name), join(project.folder, "node_modules", name));
  mkdirSync(join(project.folder, "tmp"));
  project.migration("0001_documents.ts", `m.createTable("documents", { id: m.int64().notNull(), title: m.utf8() }),`);
  project.migration("0002_drafts.ts", `m.createTable("drafts", { id: m.int64() }), m.dropTable("drafts"),`);
  const env = { ...process.env, TMPDIR: join(project.folder, "tmp") };
  const options: ExecFileSyncOptions = { cwd: project.folder, env, stdio: "pipe" };
  return { ...project, run: (file, ...args) => String(execFileSync(file, args, options)) };
}

function writeExamples(project: Project, section: string): void {
  for (const { section: own, file, text } of blocks)
    if (own === `${page}#${section}` && file !== undefined) project.write(file, text);
}

/** For each of the options, prints the rows of two databases, how many templates there are, and whether the databases are left at the end. */
const script = `
import { connect } from "@lancedb/lancedb";
import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migratedDatabase } from "lance-migrate/testing";

const templates = () => {
  const home = join(tmpdir(), "lance-migrate-templates-" + process.getuid());
  return existsSync(home) ? readdirSync(home).length : 0;
};
for (const options of JSON.parse(process.argv[2])) {
  const [one, other] = await Promise.all([migratedDatabase(options), migratedDatabase(options)]);
  const table = await (await connect(one.uri)).openTable("documents");
  await table.add([{ id: 1n, title: "a" }]);
  const same = await (await connect(other.uri)).openTable("documents");
  console.log(await table.countRows(), await same.countRows(), templates());
  await one.drop();
  await other[Symbol.asyncDispose]();
  console.log(existsSync(one.uri), existsSync(other.uri));
}
`;

test("each call gives a database of its own, and the migrations are applied once for each state of them", async () => {
  const project = anApplication("@lancedb");
  project.write("script.mjs", script);
  const run = (...options: object[]) => project.run(process.execPath, "script.mjs", JSON.stringify(options));
  const gone = "false false\n";
  expect(run({ cache: false }, {})).toBe(`1 0 0\n${gone}1 0 1\n${gone}`);
  expect(run({}, { to: 1 })).toBe(`1 0 1\n${gone}1 0 2\n${gone}`);
  project.write("migrations/shared/helper.ts", "export const one = 1;\n");
  expect(run({})).toBe(`1 0 3\n${gone}`);
  expect(readdirSync(join(project.folder, "tmp")).filter((name) => name.startsWith("lance-migrate-test-"))).toEqual([]);
  expect(() => run({ two: 1 })).toThrow("there is no setting two");
});

test("a copy can be migrated further, rolled back and verified", async () => {
  const project = anApplication("@lancedb");
  const local = `{ kind: "lance", uri: process.env.TABLES ?? ".lancedb" }`;
  project.write("migrate.config.ts", `export default { targets: { local: ${local} } };`);
  const code = `import { migratedDatabase } from "lance-migrate/testing";
    console.log((await migratedDatabase({ to: 1 })).uri);`;
  project.write("create.mjs", code);
  const on = { TABLES: project.run(process.execPath, "create.mjs").trim() };
  expect(await project.migrate(["up"], on)).toMatchObject(onStdout(0, "0002_drafts"));
  expect(await project.migrate(["verify"], on)).toMatchObject({ code: 0 });
  expect(await project.migrate(["down", "--steps", "2"], on)).toMatchObject({ code: 0 });
  expect(await project.migrate(["verify", "--ledger"], on)).toMatchObject({ code: 0 });
});

test("the example for Vitest passes", async () => {
  const project = anApplication("@lancedb", "vitest", "vite");
  writeExamples(project, "vitest");
  const printed = project.run(join(root, "node_modules/.bin/vitest"), "run", "--testTimeout", "0");
  expect(printed).toContain("1 passed");
});

test.skipIf(lacks("python"))("the example for pytest passes", async () => {
  const project = anApplication("@lancedb");
  writeExamples(project, "pytest");
  const command = "node_modules/.bin/migrate";
  project.write(command, `#!/bin/sh\nexec "${process.execPath}" "${join(root, "dist/bin.js")}" "$@"\n`);
  chmodSync(join(project.folder, command), 0o755);
  expect(project.run(pythonWith(...officialPackages), "-m", "pytest", "-q")).toContain("1 passed");
});
