/** `migrate types`: what it writes, when it refuses to, and how `new` keeps it. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { aProject, root, type Project, onStderr, onStdout } from "../support/project.ts";
import { strictConfig, typeProblems } from "../support/type-check.ts";

const documents = `m.createTable("documents", { id: m.int64().notNull(), title: m.utf8(), source: m.struct({ url: m.utf8() }) }),`;

function withDocuments(): Project {
  const project = aProject();
  project.write("tsconfig.json", strictConfig);
  project.migration("0001_documents.ts", documents);
  return project;
}

const textOf = ({ folder }: Project, file: string) => readFileSync(join(folder, file), "utf8");

test("it writes what is missing or stale, and says nothing is to do where all is as the migrations are", async () => {
  const project = withDocuments();
  const { migrate } = project;
  expect(await migrate(["types", "--check"])).toEqual({
    code: 3,
    stdout: "",
    stderr: "migrations/history.d.ts is missing; migrate types writes it\n",
  });
  expect(await migrate(["types", "--check", "--out", "src/db.ts"])).toEqual({
    code: 3,
    stdout: "",
    stderr: "migrations/history.d.ts and src/db.ts are missing; migrate types --out src/db.ts writes them\n",
  });
  expect(existsSync(join(project.folder, "src"))).toBe(false);
  expect(await migrate(["types"])).toEqual({ code: 0, stdout: "wrote migrations/history.d.ts\n", stderr: "" });
  expect(await migrate(["types", "--out", "src/db.ts"])).toEqual({
    code: 0,
    stdout: "wrote src/db.ts\n",
    stderr: `note: types --check looks at src/db.ts only with --out; to change that, add types: "src/db.ts" in the configuration\n`,
  });
  // Stated once.
  expect(await migrate(["types", "--out", "src/db.ts"])).toMatchObject({
    code: 0,
    stdout: "nothing to do: migrations/history.d.ts and src/db.ts are up to date\n",
    stderr: "",
  });
  project.migration("0002_titles.ts", `m.renameColumn("documents", "title", "headline")`);
  expect(await migrate(["types", "--out", "src/db.ts", "--check", "--json"])).toMatchObject(
    onStdout(3, `"stale":["migrations/history.d.ts","src/db.ts"]`),
  );
  expect(await migrate(["types", "--out", "src/db.ts"])).toMatchObject({ code: 0 });
  expect(await migrate(["types", "--out", "src/db.ts", "--check"])).toEqual({
    code: 0,
    stdout: "equal: migrations/history.d.ts and src/db.ts are up to date\n",
    stderr: "",
  });
  expect(textOf(project, "migrations/history.d.ts"))
    .toBe(`// Written by migrate types; do not edit. The tables after each migration, for after() of lance-migrate.

declare module "lance-migrate" {
  interface History {
    "0000": null;
    "0001": "0000";
    "0002": "0001";
  }

  interface TableNames {
    "0001": { documents: true };
  }

  interface TableHistory {
    documents: {
      "0001": {
        id: "int64 not null";
        title: "utf8";
        source: ["struct", { url: "utf8" }];
      };
      "0002": ["0001", { title: null; headline: "utf8" }];
    };
  }
}

export {};
`);
  // Line ends are a matter of the checkout; the migrations are what they were.
  project.write("src/db.ts", textOf(project, "src/db.ts").replaceAll("\n", "\r\n"));
  expect(await migrate(["types", "--out", "src/db.ts", "--check"])).toMatchObject({ code: 0 });
  expect(await migrate(["up"])).toMatchObject({ code: 0 });
});

test("a file that the configuration names is created without a note", async () => {
  const project = withDocuments();
  project.write("migrate.config.ts", `export default { types: ["src/db.ts", "src/other.ts"] };`);
  expect(await project.migrate(["types", "--out", "./src/db.ts"])).toEqual({
    code: 0,
    stdout: "wrote migrations/history.d.ts\nwrote src/db.ts\n",
    stderr: "",
  });
});

test("it writes over nothing that it did not write, and into no place where migrations are", async () => {
  const project = withDocuments();
  const { migrate } = project;
  project.write("src/db.ts", "export const mine = 1;\n");
  expect(await migrate(["types", "--out", "src/db.ts"])).toEqual({
    code: 2,
    stdout: "",
    stderr: "src/db.ts is there, and migrate types did not write it; move it away, or name another file\n",
  });
  expect(textOf(project, "src/db.ts")).toBe("export const mine = 1;\n");
  expect(existsSync(join(project.folder, "migrations/history.d.ts"))).toBe(false);
  const problem = "--out must be a .ts or .py file for the application, outside the migrations folder\n";
  for (const out of ["migrations/db.ts", "migrations/db.py", "src/db.js", "src/db.d.ts", "src"])
    expect(await migrate(["types", "--out", out])).toEqual({ code: 2, stdout: "", stderr: problem });
  project.write("migrations/history.d.ts", "declare const mine: 1;\n");
  expect(await migrate(["types"])).toMatchObject({ code: 2 });
  expect(await migrate(["new", "tags", "--add-column", "documents.tags:utf8"])).toMatchObject({ code: 0 });
  expect(textOf(project, "migrations/history.d.ts")).toBe("declare const mine: 1;\n");
  expect(textOf(project, "migrations/0002_tags.ts")).not.toContain("after");
});

test("it needs no choice between several targets, and neither do contracts", async () => {
  const project = withDocuments();
  const target = (uri: string) => `{ kind: "lance", uri: "${uri}" }`;
  project.write("migrate.config.ts", `export default { targets: { one: ${target("a")}, two: ${target("b")} } };\n`);
  expect(await project.migrate(["types"])).toMatchObject({ code: 0, stdout: "wrote migrations/history.d.ts\n" });
  expect(await project.migrate(["contract", "--application", "a", "--release", "1"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["status"])).toMatchObject(onStderr(2, "does not choose one"));
});

test("it needs no database, and tells what keeps a migration from working", async () => {
  const project = withDocuments();
  const { migrate, write } = project;
  write(
    "migrate.config.ts",
    `export default { targets: { far: { kind: "lance", uri: "s3://nowhere-at-all/tables", storageOptions: { endpoint: "http://127.0.0.1:9" } } }, target: "far" };`,
  );
  expect(await migrate(["types"])).toMatchObject({ code: 0 });
  project.migration("0002_wrong.ts", `m.renameColumn("documents", "titel", "x")`);
  expect(await migrate(["types"])).toEqual({
    code: 4,
    stdout: "",
    stderr: "0002_wrong.ts, step 1 (renameColumn): documents has no column titel at this point; did you mean title?\n",
  });
});

test("new and generate write migrations for a history that there is, and keep it; --down and templates too", async () => {
  const project = withDocuments();
  const { migrate } = project;
  await migrate(["types"]);
  expect(await migrate(["new", "tags", "--add-column", "documents.tags:list<utf8>", "--down"])).toMatchObject({
    code: 0,
  });
  expect(textOf(project, "migrations/0002_tags.ts")).toContain(`export const up: readonly Step[] = after(
  "0001",
  addColumn("documents", "tags", list(utf8())),
);`);
  // Somebody forgot it: what new checks with is written first.
  project.migration("0003_titles.ts", `m.renameColumn("documents", "title", "headline")`);
  project.write(
    "schema.ts",
    `import * as m from "lance-migrate";
    export default m.defineSchema({ documents: { id: m.int64().notNull(), headline: m.largeUtf8(), tags: m.list(m.utf8()), source: m.struct({ url: m.utf8() }) } });`,
  );
  expect(await migrate(["generate", "longer"])).toMatchObject({ code: 0 });
  expect(textOf(project, "migrations/0004_longer.ts")).toContain(`"0003",`);
  expect(await migrate(["new", "empty"])).toMatchObject({ code: 0 });
  expect(await migrate(["types", "--check"])).toMatchObject({ code: 0 });
  rmSync(join(project.folder, "migrations/0005_empty.ts"));
  expect(await migrate(["types"])).toMatchObject({ code: 0 });
  expect(await migrate(["lint"])).toMatchObject({ stderr: expect.not.stringContaining("has after") });
  expect(typeProblems(project.folder)).toEqual([]);
  execFileSync(join(root, "node_modules/.bin/oxfmt"), ["--check", "--config", formatConfig(project)], {
    cwd: project.folder,
  });
  expect(await migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
});

function formatConfig({ write }: Project): string {
  write(
    "oxfmt.json",
    JSON.stringify({ printWidth: 80, ignorePatterns: ["*.json", "schema.ts", "migrations/000[13]*"] }),
  );
  return "oxfmt.json";
}

test("the setting types names the application's file: commands keep it, and lint tells of names that it still has", async () => {
  const project = withDocuments();
  const config = (types: string) =>
    project.write(
      "migrate.config.ts",
      `export default { types: ${JSON.stringify(types)}, targets: { here: { kind: "lance", uri: "data" } } };\n`,
    );
  const { migrate } = project;
  config("src/db.ts");
  expect(await migrate(["new", "words", "--add-column", "documents.words:int32"])).toMatchObject({ code: 0 });
  expect(existsSync(join(project.folder, "src"))).toBe(false);
  expect(await migrate(["types"])).toMatchObject({
    code: 0,
    stdout: "wrote migrations/history.d.ts\nwrote src/db.ts\n",
  });
  rmSync(join(project.folder, "migrations/history.d.ts"));
  expect(await migrate(["new", "count", "--rename", "documents.words:count"])).toMatchObject({ code: 0 });
  expect(textOf(project, "src/db.ts")).toContain("\n  count: number | null;\n");
  expect(await migrate(["lint"])).toMatchObject({ stdout: expect.not.stringContaining("renames-declared-column") });

  project.migration("0004_headline.ts", `m.renameColumn("documents", "title", "headline")`);
  project.migration("0005_heading.ts", `m.renameColumn("documents", "headline", "heading")`);
  const { stdout } = await migrate(["lint", "--since", "3"]);
  expect(stdout).toMatch(
    /^migrations\/0004_headline\.ts:\d+:\d+ warning renames-declared-column: src\/db\.ts still declares documents\.title, and not heading: rewrite it with migrate types, and change the code that uses it\n/,
  );
  expect(stdout.match(/renames-declared-column/g)).toHaveLength(1);
  expect(await migrate(["types", "--check"])).toMatchObject({ code: 3 });
  expect(await migrate(["types"])).toMatchObject({ code: 0 });
  expect(await migrate(["lint"])).toMatchObject({ stdout: expect.not.stringContaining("renames-declared-column") });
  // What somebody else wrote there is not looked at, and not written over.
  project.write("src/db.ts", "export {};\n");
  expect(await migrate(["lint"])).toMatchObject({ stdout: expect.not.stringContaining("renames-declared-column") });
  expect(await migrate(["types"])).toMatchObject(onStderr(2, "db.ts"));
  // The migration is there all the same.
  const added = ["new", "more", "--add-column", "documents.more:utf8"];
  expect(await migrate(added)).toMatchObject(
    onStderr(0, "note: the files of migrate types were not updated: src/db.ts is there, and migrate types"),
  );
  config("package.json/db.ts");
  expect(await migrate(["types"])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^package\.json\/db\.ts can't be written: \w+: [^\n]*; fix that, then migrate types rewrites it\n$/,
    ),
  });
  config("migrations/db.ts");
  for (const command of ["types", "lint"])
    expect(await migrate([command])).toMatchObject(onStderr(2, "types: must be outside the migrations folder"));
});

test("lint tells of a migration that comes after another than it says", async () => {
  const project = withDocuments();
  project.write(
    "migrations/0002_titles.ts",
    `import { after, renameColumn } from "lance-migrate";\nexport const up = after("0003", renameColumn("documents", "title", "headline"));\n`,
  );
  expect(await project.migrate(["lint"])).toMatchObject({
    code: 4,
    stdout: expect.stringContaining(
      'migrations/0002_titles.ts:2:26 error ERR_FILE_AFTER: 0002_titles.ts has after("0003"), but 0001_documents.ts stands before it; write after("0001", …)\n',
    ),
  });
});

test("a second file beside those of the setting is added to its list", async () => {
  const project = withDocuments();
  project.write(
    "migrate.config.ts",
    `export default { targets: { local: { kind: "lance", uri: ".lancedb" } }, types: "src/db.ts" };\n`,
  );
  expect(await project.migrate(["types", "--out", "app/models.py"])).toMatchObject({
    stderr: `note: types --check looks at app/models.py only with --out; to change that, set types: ["src/db.ts", "app/models.py"] in the configuration\n`,
  });
});

test("a table that loses its Python model is named, once", async () => {
  const project = withDocuments();
  project.write(
    "migrate.config.ts",
    `export default { targets: { local: { kind: "lance", uri: ".lancedb" } }, types: "models.py" };\n`,
  );
  expect(await project.migrate(["types"])).toMatchObject({ code: 0, stderr: "" });
  const gap =
    'note: in models.py, documents has no model: "copy" can\'t be the name of a field, because LanceModel has an attribute of that name\n';
  expect(await project.migrate(["new", "copies", "--add-column", "documents.copy:utf8"])).toMatchObject(
    onStderr(0, gap),
  );
  expect(await project.migrate(["new", "more", "--add-column", "documents.more:utf8"])).toMatchObject({
    code: 0,
    stderr: expect.not.stringContaining("has no model"),
  });
  rmSync(join(project.folder, "models.py"));
  expect(await project.migrate(["types"])).toMatchObject({ code: 0, stderr: gap });
});
