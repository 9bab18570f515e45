/** What `lint` says of several files at once, and where. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root, startNode } from "../support/project.ts";
import { manyProjects } from "./support/many-projects.ts";

const { project } = manyProjects();

const documents = `import { btree, createIndex, createTable, float64, int32, utf8 } from "lance-migrate";

export const up = [
  createTable("documents", { id: int32().notNull(), title: utf8(), score: float64() }),
  createIndex("documents", "title", btree()),
];
`;

const broken = {
  "migrations/0001_documents.ts": documents,
  // Types are gone when it runs, and its places are those of the file.
  "migrations/0002_more.ts": `import * as m from "lance-migrate";
import { required } from "./helpers/required.ts";

const columns: readonly string[] = ["titel", "score"];
function widen(name: string): m.Step { return m.retypeColumn("documents", name, m.float32()); }

export const up: readonly m.Step[] = [
  ...columns.map((name) => widen(name)), /* "titel" */ m.renameColumn("documents", "title", "headline"),
  required("documents", "headlin"), required("documents", "headline"),
  m.retypeColumn("documents", "id", m.int64(), { usng: "1" } as never),
  m.addColumn(
    "documents",
    "Score", // "nix", ")"
    m.int32(),
  ),
  { kind: "dropColumn", table: "documents", path: "nix" },
  m.dropColum,
];
`,
  "migrations/helpers/required.ts": `import { setNullable } from "lance-migrate";
export const required = (table: string, path: string) => setNullable(table, path, false);
`,
  "migrations/0003_syntax.ts": `import { createTable, int32 } from "lance-migrate";

export const up = [
  createTable("notes", { id: int32() ),
];
`,
  "migrations/0004_thrown.mts": `import { dropColumn } from "lance-migrate";
const tables: string[] = [];
export const up = [dropColumn(tables[0].name, "a")];
`,
  "migrations/0005_good.js": `import { dropTable, renameColumn } from "lance-migrate";
export const accepts = ["lossy", "all"];
export const up = [renameColumn("notes", "id", "number"), dropTable("document"), dropTable("documents")];
`,
  "migrations/0005_twice.mjs": `export const up = [];\nexport const down = 5;\n`,
  "migrations/sixth.ts": "",
};

const places = `migrations/sixth.ts:1:1 error ERR_FILE_NAME
migrations/0002_more.ts:5:47 error ERR_STEP_IMPOSSIBLE
migrations/0002_more.ts:5:47 note full-rewrite
migrations/0002_more.ts:5:47 warning lossy-cast
migrations/0002_more.ts:7:14 error ERR_STEP_INVALID
migrations/0002_more.ts:7:14 error ERR_STEP_IMPOSSIBLE
migrations/0002_more.ts:8:85 note renames-indexed-column
migrations/0002_more.ts:9:26 error ERR_STEP_IMPOSSIBLE
migrations/0002_more.ts:9:60 note not-null-unchecked
migrations/0002_more.ts:10:3 error ERR_STEP_INVALID
migrations/0002_more.ts:13:6 error ERR_STEP_IMPOSSIBLE
migrations/0003_syntax.ts:4:38 error ERR_FILE_UNREADABLE
migrations/0004_thrown.mts:3:41 error ERR_FILE_UNREADABLE
migrations/0005_good.js:2:14 error ERR_FILE_EXPORTS
migrations/0005_good.js:3:70 error ERR_STEP_IMPOSSIBLE
migrations/0005_good.js:3:82 warning loses-data
migrations/0005_good.js:3:82 warning not-reversible
migrations/0005_twice.mjs:1:1 error ERR_VERSION_DUPLICATE
migrations/0005_twice.mjs:1:14 error ERR_FILE_EXPORTS
migrations/0005_twice.mjs:2:14 error ERR_FILE_EXPORTS`;

test("everything that is wrong in several files is told at once, each in its line and column", async () => {
  const { code, stdout, stderr } = await project(broken).migrate(["lint"]);
  const found = stdout
    .trimEnd()
    .split("\n")
    .map((line) => /^\S+ \w+ [\w-]+/.exec(line)![0]);
  expect(found.join("\n")).toBe(places);
  expect({ code, stderr }).toEqual({ code: 4, stderr: "6 migrations checked: 14 errors, 3 warnings, 3 notes\n" });
});

test.each([["a file beside it", `import { made } from "./helpers/made.ts";`, "made()"]])(
  "a file that can't be loaded and takes names from %s may have made anything",
  async (_, before, step) => {
    const files = {
      "migrations/0001_made.ts": `import { createTable, int32 } from "lance-migrate";\n${before}\nexport const up = [${step}, nothing];\n`,
      "migrations/0002_more.ts": `import { addColumn, int32 } from "lance-migrate";\nexport const up = [addColumn("made_1", "b", int32())];\n`,
    };
    const helper = `import { createTable, int32 } from "lance-migrate";\nexport const made = () => createTable("made" + "_1", { a: int32() });\n`;
    const { stdout } = await project({ ...files, "migrations/helpers/made.ts": helper }).migrate(["lint"]);
    expect(stdout).toMatch(/^migrations\/0001_made\.ts:3:\d+ error ERR_FILE_UNREADABLE: .*\n$/);
  },
);

const good = {
  "migrations/0001_documents.ts": documents,
  "migrations/0002_score.ts": `import { float32, retypeColumn, setNullable } from "lance-migrate";

export const up = [
  // It was measured in single precision.
  // lint-ignore lossy-cast: nothing is lost
  retypeColumn("documents", "score", float32()), // lint-ignore full-rewrite
  setNullable("documents", "title", false),
];
`,
};

const nulls = `a null in documents.title stops this while it runs, and no step before it in this migration fills them; put before it execute("documents", { update: { "title": "''" }, where: "\`title\` is null" }), in which '' is the value for the rows with a null, or check with migrate plan whether there are any`;

test("a comment on a step, or above it, silences a rule there", async () => {
  expect(await project(good).migrate(["lint"])).toEqual({
    code: 0,
    stdout: `migrations/0002_score.ts:7:29 note not-null-unchecked: ${nulls}\n2 migrations checked: 1 note\n`,
    stderr: "",
  });
});

test("a comment that names no rule is an error, and silences nothing", async () => {
  const text = good["migrations/0002_score.ts"].replace(
    "lint-ignore lossy-cast",
    "lint-ignore lossy-casts, full-rewrite",
  );
  const { code, stdout } = await project({ ...good, "migrations/0002_score.ts": text }).migrate(["lint"]);
  expect(code).toBe(4);
  expect(stdout).toContain(
    "migrations/0002_score.ts:5:18 error lint-ignore: there is no rule lossy-casts; did you mean lossy-cast?\n",
  );
  expect(stdout).toContain("migrations/0002_score.ts:6:3 warning lossy-cast: ");
});

test("what is found in one line is listed from left to right", async () => {
  const text = `import { dropColumn, renameColumn } from "lance-migrate";
export const up = [dropColumn("documents", "score"), renameColumn("documents", "nix", "x")];
`;
  const { stdout } = await project({ ...good, "migrations/0002_score.ts": text }).migrate(["lint"]);
  const found = [...stdout.matchAll(/^migrations\/0002_score\.ts:2:(\d+) ([\w ]+)/gm)];
  const columns = found.map(([, column]) => Number(column));
  expect(new Set(found.map(([, , severity]) => severity!.split(" ")[0]))).toEqual(new Set(["warning", "error"]));
  expect(columns).toEqual(columns.toSorted((one, other) => one - other));
});

test("what it says of a null works", async () => {
  const made = project({
    "migrations/0001_t.ts": `import * as m from "lance-migrate";
export const up = [
  m.createTable("t", { id: m.int32(), "my col": m.utf8(), source: m.struct({ url: m.utf8(), "a b": m.utf8() }) }),
  m.insertRows("t", [{ id: 1, "my col": null }], { key: "id" }),
];
`,
    "migrations/0002_filled.ts": `import * as m from "lance-migrate";
export const accepts = ["lossy"];
export const up = [
  m.execute("t", { update: { "my col": "'x'" }, where: "\`my col\` is null" }),
  m.execute("t", { update: { "source": "named_struct('url', 'x', 'a b', 'y')" }, where: "\`source\`.\`a b\` is null" }),
  m.setNullable("t", "my col", false),
];
`,
  });
  expect(await made.migrate(["up"])).toMatchObject({ code: 0 });
});

test("what another target of the configuration can't do is told, also by new, and no key is needed for it", async () => {
  const config = (targets: string) =>
    `export default { target: "local", targets: { local: { kind: "lance", uri: "data" }, ${targets} } };\n`;
  const service = (name: string, more = "") => `${name}: { kind: "rest", endpoint: "http://localhost:1"${more} },`;
  const files = {
    "migrations/0001_documents.ts": documents.replace(/^ {2}createIndex.*\n/m, ""),
    "migrations/0002_less.ts": `import { dropColumn, renameColumn } from "lance-migrate";
export const accepts = ["lossy"];
export const up = [renameColumn("documents", "title", "headline"), dropColumn("documents", "score")];
`,
  };
  const made = project({
    ...files,
    "migrate.config.ts": config(service("staging") + service("production") + service("open", `, dialect: "namespace"`)),
  });
  expect(await made.migrate(["lint"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^migrations\/0002_less\.ts:3:68 warning not-everywhere: targets staging, production can't do this: [^\n]+\n(?!.*not-everywhere)/,
    ),
  });
  expect(await made.migrate(["new", "more", "--drop-column", "documents.headline", "--accept", "lossy"])).toMatchObject(
    {
      code: 0,
      stderr: expect.stringMatching(/^note: step 1: targets staging, production can't do this: /m),
    },
  );
  // Of a target that can't be opened nobody knows.
  const odd = project({ ...files, "migrate.config.ts": config(`odd: { kind: "other" },`) });
  expect(await odd.migrate(["lint"])).toMatchObject({ code: 0, stdout: expect.not.stringContaining("not-everywhere") });
});

const lossy = {
  ...good,
  "migrations/0002_score.ts": good["migrations/0002_score.ts"].replaceAll("// lint-ignore", "//"),
};

test("--github prints annotations, escaped as GitHub reads them", async () => {
  const odd = {
    "migrations/0003_a,b%c.ts": "",
    "migrations/0003_odd.ts": `export const up = [{ kind: "dropTable", table: "50%:\\r\\n, ::error" }];\n`,
  };
  const { code, stdout, stderr } = await project({ ...lossy, ...odd }).migrate(["lint", "--github"]);
  expect({ code, stderr }).toEqual({ code: 4, stderr: "3 migrations checked: 2 errors, 1 warning, 2 notes\n" });
  expect(stdout.trimEnd().split("\n")).toEqual([
    expect.stringMatching(
      /^::error file=migrations\/0003_a%2Cb%25c.ts,line=1,col=1,title=ERR_FILE_NAME::0003_a,b%25c.ts is not a valid name/,
    ),
    expect.stringMatching(
      /^::notice file=migrations\/0002_score.ts,line=6,col=3,title=full-rewrite::rewrites score in/,
    ),
    expect.stringMatching(
      /^::warning file=migrations\/0002_score.ts,line=6,col=3,title=lossy-cast::documents.score may/,
    ),
    `::notice file=migrations/0002_score.ts,line=7,col=29,title=not-null-unchecked::${nulls}`,
    "::error file=migrations/0003_odd.ts,line=1,col=14,title=ERR_STEP_IMPOSSIBLE::step 1 (dropTable): no migration before this creates a table 50%25:%0D%0A, ::error",
  ]);
});

test.each([
  { args: [], code: 0 },
  { args: ["--deny-warnings"], code: 4 },
  { args: ["--deny-warnings", "--since", "2"], code: 0 },
  { args: ["--github", "--json"], code: 2 },
])("lint $args on a warning exits with $code", async ({ args, code }) => {
  expect(await project(lossy).migrate(["lint", ...args])).toMatchObject({ code });
});

test.each([
  { rules: `{ "lossy-cast": "error" }`, code: 4, says: "0002_score.ts:6:3 error lossy-cast: " },
  {
    rules: `{ "lossy-cast": "off", "full-rewrite": "off", "not-null-unchecked": "off" }`,
    code: 0,
    says: "2 migrations checked, nothing wrong",
  },
  {
    rules: `{ "lossy-casts": "off" }`,
    code: 2,
    says: "migrate.config.ts: lint.rules: there is no rule lossy-casts; did you mean lossy-cast?",
  },
])("with lint.rules $rules it exits with $code", async ({ rules, code, says }) => {
  const config = { "migrate.config.ts": `export default { lint: { rules: ${rules} } };\n` };
  const finished = await project({ ...lossy, ...config }).migrate(["lint"]);
  expect(finished.code).toBe(code);
  expect(finished.stdout + finished.stderr).toContain(says);
});

test("places are those that editors show: with a byte order mark, other line ends, other letters, and as CommonJS", async () => {
  const files = {
    "package.json": "{}",
    "migrations/0001_t.mts": `\uFEFFimport { createTable as make, int32 } from "lance-migrate"; export const up = [make("t", { größe: int32() }), make("t", {})];\r\n`,
    "migrations/0002_t.mts": `import * as m from "lance-migrate";\r\n\r\nexport const up = [\r\n  /* größe 😀 */ m.dropColumn("t", "groesse"),\r\n];\r\n`,
    "migrations/0003_t.js": `const m = require("lance-migrate");\n\nexports.up = [m.dropColumn("u", "größe")];\n`,
  };
  const { stdout } = await project(files).migrate(["lint"]);
  const found = stdout
    .trimEnd()
    .split("\n")
    .map((line) => /^\S+ \w+ \w+/.exec(line)![0]);
  expect(found).toEqual([
    "migrations/0001_t.mts:1:111 error ERR_STEP_INVALID",
    "migrations/0002_t.mts:4:37 error ERR_STEP_IMPOSSIBLE",
    "migrations/0003_t.js:3:29 error ERR_STEP_IMPOSSIBLE",
  ]);
});

test("from another folder the files are named as seen from there", async () => {
  const { folder } = project({ ...lossy, "inside/": "" });
  const bin = join(root, "dist", "bin.js");
  const config = join(folder, "migrate.config.ts");
  writeFileSync(config, "export default {};\n");
  const { stdout } = await startNode([bin, "lint", "--config", config], join(folder, "inside")).finished;
  expect(stdout).toMatch(/^\.\.\/migrations\/0002_score\.ts:6:3 note full-rewrite/);
});
