/** Files of tables that are empty or end too early, as after a crash of the machine. */
import { readdirSync, renameSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, leaping, type Project, onStderr, onStdout } from "../support/project.ts";
import { addRows, columnsOf, lancedb } from "../support/tables.ts";

async function aScene(): Promise<Project> {
  const project = aProject();
  project.migration("0001_docs.ts", `m.createTable("docs", { id: m.int32().notNull(), t: m.utf8() }),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "docs", [{ id: 1, t: "a" }]);
  project.migration("0002_sum.ts", `m.addColumn("docs", "n", m.int32(), { as: "id + 1" }),`);
  return project;
}

/** The first file of a folder of a table: of manifests, the newest. */
function fileOf({ database }: Project, table: string, folder: string): string {
  const path = join(database, `${table}.lance`, folder);
  return join(path, readdirSync(path).toSorted()[0]!);
}

async function requireNamed(project: Project, file: string, problem: string, commands: readonly string[]) {
  for (const command of commands) {
    const { code, stdout, stderr } = await project.migrate([command]);
    expect({ command, code, stdout }).toEqual({ command, code: 6, stdout: "" });
    expect(stderr).toContain(`can't be read: its file ${file} ${problem}; put the file back from a backup`);
  }
  const { stdout } = await project.migrate([commands[0]!, "--json"]);
  expect(stdout).toContain('"code":"ERR_DAMAGED"');
  expect(await project.migrate(["doctor"])).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^no .*its file .*can't be migrated safely/ms) as string,
  });
}

test("an empty manifest is named by its path, and without it the table is as before", async () => {
  const project = await aScene();
  const file = fileOf(project, "docs", "_versions");
  truncateSync(file, 0);
  await requireNamed(project, file, "is empty", ["plan", "up", "verify", "repair", "rehearse"]);
  renameSync(file, join(project.folder, "moved"));
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
});

test("where the manifest of a retype's last commit is lost, repair finds the middle of the retype, and up finishes it", async () => {
  const project = await aScene();
  project.migration("0003_long.ts", `m.retypeColumn("docs", "t", m.largeUtf8()),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const file = fileOf(project, "docs", "_versions");
  truncateSync(file, 0);
  expect(await project.migrate(["verify"])).toMatchObject({ code: 6 });
  renameSync(file, join(project.folder, "moved"));
  expect(await project.migrate(["verify"])).toMatchObject(onStdout(4, "; see migrate repair"));
  expect(await project.migrate(["repair", "--yes"])).toMatchObject(
    onStdout(0, "the tables are as they were in the middle of 0003_long"),
  );
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
  expect(await columnsOf(project.database, "docs")).toEqual(["id: int32 not null", "t: largeUtf8", "n: int32"]);
});

test("an empty manifest of the ledger is named by its path, and without it the ledger can be repaired", async () => {
  const project = await aScene();
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const file = fileOf(project, "_migrations", "_versions");
  truncateSync(file, 0);
  await requireNamed(project, file, "is empty", ["status", "plan", "up", "verify", "repair", "history"]);
  renameSync(file, join(project.folder, "moved"));
  expect(await project.migrate(["up"], leaping())).toMatchObject({ code: 0 });
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
});

test.each(["is cut", "is empty"])("a data file that %s is named by its path", async (how) => {
  const project = await aScene();
  const file = fileOf(project, "docs", "data");
  truncateSync(file, how === "is cut" ? Math.floor(statSync(file).size / 2) : 0);
  const problem = how === "is cut" ? "has no end, so part of it is missing or overwritten" : how;
  await requireNamed(project, file, problem, ["plan", "up", "verify", "rehearse"]);
});

test("verify looks at the tables of migrations, and not at those of other applications", async () => {
  const project = await aScene();
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await (await lancedb.connect(project.database)).createTable("others", [{ id: 1 }]);
  truncateSync(fileOf(project, "others", "data"), 0);
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
});

test("a data file of the ledger that is cut is named, and the ledger can be rebuilt from the tables", async () => {
  const project = await aScene();
  truncateSync(fileOf(project, "_migrations", "data"), 10);
  expect(await project.migrate(["up"])).toMatchObject(
    onStderr(6, "without a backup, move the folder _migrations.lance out of the database's folder"),
  );
  const { stdout } = await project.migrate(["doctor"]);
  expect(stdout).toMatch(/^no .*move the folder _migrations\.lance out of/m);
  expect(stdout).not.toContain("restore an older version");
  renameSync(join(project.database, "_migrations.lance"), join(project.folder, "moved"));
  expect(await project.migrate(["repair", "--yes"])).toMatchObject({ code: 0 });
  // When it ran, and for how long, is lost.
  expect((await project.migrate(["status"])).stdout).toMatch(/^applied {2}0001_docs {2}\S+ \S+ +found in the tables$/m);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
});

test("a run that finds a damaged file in the middle states how far it got", async () => {
  const project = aProject();
  const rows = `{ rows: [{ id: 1, t: 1 }] }`;
  project.migration(
    "0001_two.ts",
    ["docs", "tags"].map((name) => `m.createTable("${name}", { id: m.int32(), t: m.int32() }, ${rows})`).join(", "),
  );
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const file = fileOf(project, "tags", "data");
  project.write(
    "cut.mjs",
    `import { truncateSync } from "node:fs";
export default (rows) => (truncateSync(${JSON.stringify(file)}, 0), rows.map(({ t }) => t));\n`,
  );
  const computed = `{ from: ["t"], key: "id", with: "./cut.mjs", version: "1" }`;
  project.migration(
    "0002_both.ts",
    `m.addColumn("docs", "n", m.int32()), m.backfillColumn("docs", "n", ${computed}), m.retypeColumn("tags", "t", m.int64())`,
  );
  const { code, stderr } = await project.migrate(["up"]);
  expect([code, stderr]).toEqual([6, expect.stringContaining(`its file ${file} is empty`)]);
  expect(stderr).toContain("0 migrations applied, 2 of 3 actions of 0002_both done; the next migrate up resumes it");
});
