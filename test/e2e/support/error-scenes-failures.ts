/** Scenes of errors that need a repository of git, a damaged file, another installation, or code that fails. */
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, startNode, type Project } from "../../support/project.ts";
import { addRows } from "../../support/tables.ts";
import { applied, config, openTable, pending, people, rows, schema, type ErrorScenes } from "./scene-project.ts";

/** A branch with the migrations of another one merged into it, both with the number 2. */
function twoBranches(project: Project, theirs: string, ours: string): void {
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=ann", "-c", "user.email=ann@example.org", ...args], { cwd: project.folder });
  const commit = () => {
    git("add", "-A");
    git("commit", "-qm", "m");
  };
  project.write(".gitignore", "node_modules\n.lancedb\n");
  project.migration("0001_m.ts", people);
  git("init", "-q", "-b", "main");
  commit();
  git("checkout", "-q", "-b", "feature");
  project.migration("0002_ours.ts", ours);
  commit();
  git("checkout", "-q", "main");
  project.migration("0002_theirs.ts", theirs);
  commit();
  git("checkout", "-q", "feature");
  git("merge", "-q", "main");
}

const failing = `export default () => { throw new Error("no luck"); };\n`;

/** A pending migration that computes vectors with code, which fails unless another one is given. */
async function withModel(project: Project, code = failing): Promise<void> {
  project.write("code/model.ts", code);
  const columns = "{ id: m.int32().notNull(), text: m.utf8(), v: m.vector(2) }";
  const options = `{ type: m.vector(3), from: ["text"], key: "id", with: "./code/model.ts", version: "2", batch: 1 }`;
  await pending(project, `m.createTable("docs", ${columns})`, `m.reembedColumn("docs", "v", ${options})`);
  await addRows(project.database, "docs", [
    { id: 1, text: "a", v: [1, 2] },
    { id: 2, text: "b", v: [1, 2] },
  ]);
}

export const scenesOfFailures: ErrorScenes = {
  ERR_FILE_AFTER: (project) =>
    project.write(
      "migrations/0001_m.ts",
      `import * as m from "lance-migrate";\nexport const up = m.after("0003", ${people});\n`,
    ),
  ERR_REBASE: (project) =>
    twoBranches(project, `m.dropColumn("people", "name")`, `m.renameColumn("people", "name", "title")`),
  ERR_ORDER_MATTERS: (project) =>
    twoBranches(
      project,
      `m.execute("people", { update: { id: "1" } })`,
      `m.addColumn("people", "twice", m.int32(), { as: "id * 2" })`,
    ),
  ERR_BACK_ORDER: async (project) => {
    project.migration("0002_m.ts", people);
    await applied(project);
    project.migration("0001_m.ts", `m.createTable("t", { id: m.int32() })`);
    await applied(project, "--allow-out-of-order");
  },
  ERR_DAMAGED: async (project) => {
    await pending(project, people, `m.addColumn("people", "n", m.int32(), { as: "id + 1" })`);
    await addRows(project.database, "people", rows);
    const data = join(project.database, "people.lance/data");
    truncateSync(join(data, readdirSync(data)[0]!), 0);
  },
  ERR_TEMPLATE_MISSING: ({ folder }) => {
    const tool = join(folder, "node_modules/tool");
    for (const part of ["dist", "package.json"]) cpSync(join(root, part), join(tool, part), { recursive: true });
    return { migrate: (args) => startNode([join(tool, "dist/bin.js"), ...args], folder).finished };
  },
  ERR_PUSH_FAILED: (project) => {
    config(project, `targets: { here: { kind: "lance", uri: ".lancedb", push: true } }`);
    schema(project, "id: m.int32()");
    takePlace(project, "people");
  },
  ERR_GROUP_FAILED: async (project) => {
    const renames = [
      ["a", "b"],
      ["b", "c"],
    ].map(([path, name]) => ["t", "u"].map((table) => `m.renameColumn("${table}", "${path}", "${name}")`).join(", "));
    project.migration("0001_m.ts", `m.createTable("t", { a: m.int32() })`);
    await applied(project);
    for (const [index, steps] of [`m.createTable("u", { a: m.int32() })`, ...renames].entries())
      project.migration(`000${index + 2}_m.ts`, steps);
    takePlace(project, "u");
  },
  ERR_UNFINISHED: async (project) => {
    config(project, "hooks: { afterMigration() {} }", "Promise.allSettled = () => new Promise(() => {});\n");
    await pending(project, people);
  },
  ERR_PREPARE_FAILED: async (project) => await withModel(project),
  ERR_LIMIT_REACHED: async (project) =>
    await withModel(project, "export default (rows) => rows.map(() => [1, 2, 3]);\n"),
  ERR_RAY_FAILED: async (project) => {
    await withModel(project);
    const python = join(project.folder, "python");
    writeFileSync(python, `#!/bin/sh\necho '{ "unusable": "no cluster" }'\n`);
    chmodSync(python, 0o755);
  },
  ERR_UNREADABLE: async (project) => {
    await pending(
      project,
      `m.createTable("t", { a: m.int32(), b: m.int32() }), m.createIndex("t", "b", m.btree())`,
      `m.dropColumn("t", "b")`,
    );
    await addRows(project.database, "t", [{ a: 1, b: 1 }]);
    await addRows(project.database, "t", [{ a: 2 }]);
    await (await openTable(project, "t")).dropColumns(["a"]);
  },
  ERR_VERSION_UNKEPT: async (project) => {
    const target = `{ kind: "lance", uri: ".lancedb", guards: { accepts: ["lossy"] } }`;
    config(project, `targets: { here: ${target} }`);
    await pending(project, people, `m.dropColumn("people", "name")`);
    // A branch keeps a version, and there is no folder for it.
    writeFileSync(join(project.database, "people.lance/_refs"), "");
  },
};

/** Files are where a table would be. */
function takePlace({ database }: Project, table: string): void {
  const data = join(database, `${table}.lance/data`);
  mkdirSync(data, { recursive: true });
  writeFileSync(join(data, "x.lance"), "");
}
