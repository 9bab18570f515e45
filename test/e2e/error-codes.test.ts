/** Codes of errors, as programs get them with --json. Texts of these errors are in the tests of the commands. */
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { endingCode } from "../../src/cli/command/exit-code.ts";
import { catalogue } from "../../src/errors/catalogue.ts";
import type { ErrorCode } from "../../src/errors/migrate-error.ts";
import { aProject, temporaryFolder, type Project } from "../support/project.ts";
import { addRows, lancedb } from "../support/tables.ts";

interface Case {
  readonly code: ErrorCode;
  readonly args: readonly string[];
  readonly arrange?: (project: Project) => unknown;
}

const people = `m.createTable("people", { id: m.int32(), name: m.utf8() })`;
const rows = [{ id: 1, name: "Ada" }];

/** The migrations, and those before the last applied. */
async function pending(project: Project, ...lists: readonly string[]): Promise<void> {
  for (const [index, steps] of lists.entries()) project.migration(`000${index + 1}_m.ts`, steps);
  if (lists.length > 1) await applied(project, "--to", String(lists.length - 1));
}

async function applied(project: Project, ...args: readonly string[]): Promise<void> {
  expect(await project.migrate(["up", ...args])).toMatchObject({ code: 0 });
}

function config(project: Project, settings: string): void {
  project.write("migrate.config.ts", `export default { ${settings} };\n`);
}

function schema(project: Project, columns: string): void {
  project.write(
    "schema.ts",
    `import * as m from "lance-migrate";\nexport default m.defineSchema({ people: { ${columns} } });\n`,
  );
}

const tenants = (project: Project) =>
  config(project, `targets: { many: { kind: "lance", uri: "data/{database}", databases: ["acme", "globex"] } }`);

/** A pending migration that drops a table with rows, on a target with guards. */
async function guarded(project: Project, guards: string, steps: string): Promise<void> {
  config(project, `targets: { here: { kind: "lance", uri: ".lancedb", guards: ${guards} } }`);
  await pending(project, people, steps);
  await addRows(project.database, "people", rows);
}

/** A migration of which the first step is done and the second can't work. */
async function halfDone(project: Project): Promise<void> {
  await pending(
    project,
    people,
    `m.createTable("t", { id: m.int32() }), m.execute("people", { delete: "1 / (id - 1) > 0" })`,
  );
  await addRows(project.database, "people", rows);
  expect(await project.migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 1 });
}

const cases: readonly Case[] = [
  { code: "ERR_DATABASE_UNKNOWN", args: ["status", "--database", "acne"], arrange: tenants },
  { code: "ERR_DATABASE_NEEDED", args: ["plan"], arrange: tenants },
  { code: "ERR_SCHEMA_MISSING", args: ["generate", "more"] },
  { code: "ERR_BRANCH", args: ["rebase"] },
  { code: "ERR_PLAN_INVALID", args: ["up", "--plan", "package.json"] },
  {
    code: "ERR_TEMPLATE_INVALID",
    args: ["new", "bad"],
    arrange: (project) => project.write("templates/migration.ts", "// empty\n"),
  },
  {
    code: "ERR_FORMAT",
    args: ["new", "create", "--create-table", "t(id int32)"],
    arrange: (project) => config(project, "format: () => 7"),
  },
  {
    code: "ERR_FILE_EXISTS",
    args: ["new", "create"],
    arrange: ({ folder }) => mkdirSync(join(folder, "migrations/0001_create.ts")),
  },
  {
    code: "ERR_TIMEOUT",
    args: ["up", "--timeout", "0.5"],
    arrange: (project) =>
      project.write("migrations/0001_slow.ts", "await new Promise((done) => setTimeout(done, 5000));\n"),
  },
  {
    code: "ERR_BUNDLE_FILE",
    args: ["build", "--out", "package.json/b.json"],
    arrange: (project) => pending(project, people),
  },
  {
    code: "ERR_REPORT_FILE",
    args: ["report", "--out", "package.json/report.html"],
    arrange: (project) => pending(project, people),
  },
  {
    code: "ERR_REPORT_FOREIGN",
    args: ["report", "--out", "package.json"],
    arrange: (project) => pending(project, people),
  },
  {
    code: "ERR_TYPES_FILE",
    args: ["types", "--out", "package.json/db.ts"],
    arrange: (project) => pending(project, people),
  },
  {
    code: "ERR_TYPES_FOREIGN",
    args: ["types", "--out", "migrate.config.ts"],
    arrange: (project) => (config(project, ""), pending(project, people)),
  },
  {
    code: "ERR_CONSENT",
    args: ["up"],
    arrange: (project) => pending(project, people, `m.dropColumn("people", "name")`),
  },
  {
    code: "ERR_FORBIDDEN",
    args: ["up", "--accept", "irreversible"],
    arrange: (project) => guarded(project, `{ forbid: ["none"] }`, `m.dropTable("people")`),
  },
  {
    code: "ERR_REWRITE",
    args: ["up"],
    arrange: (project) => guarded(project, "{ maxRewriteBytes: 1 }", `m.retypeColumn("people", "id", m.int64())`),
  },
  {
    code: "ERR_CONTRACT",
    args: ["up", "--contract", "app.json", "--accept", "lossy"],
    arrange: (project) => {
      project.write("app.json", `{ "format": 1, "application": "app", "release": "1", "tables": { "people": {} } }`);
      return pending(project, people, `m.dropTable("people")`);
    },
  },
  {
    code: "ERR_CONTRACT_MISSING",
    args: ["up", "--contract", "missing"],
    arrange: (project) => pending(project, people),
  },
  {
    code: "ERR_CONTRACT_INVALID",
    args: ["up", "--contract", "contract.json"],
    arrange: async (project) => {
      await pending(project, people);
      project.write("contract.json", "{}");
    },
  },
  { code: "ERR_REHEARSAL_BEGUN", args: ["rehearse"], arrange: halfDone },
  { code: "ERR_BASELINE_BEGUN", args: ["baseline"], arrange: halfDone },
  { code: "ERR_BASELINE_DIFFERS", args: ["baseline"], arrange: (project) => pending(project, people) },
  {
    code: "ERR_ADOPT_PENDING",
    args: ["verify", "--write"],
    arrange: (project) => pending(project, people, `m.dropTable("people")`),
  },
  { code: "ERR_ADOPT_REFUSED", args: ["pull"], arrange: (project) => pending(project, people) },
  {
    code: "ERR_ADOPT_IMPOSSIBLE",
    args: ["pull"],
    arrange: async ({ database }) => await (await lancedb.connect(database)).createTable("t", [{ a: 1, A: 2 }]),
  },
  {
    code: "ERR_DIFF_UNSURE",
    args: ["generate", "more"],
    arrange: (project) => (schema(project, "id: m.int32(), title: m.utf8()"), pending(project, people)),
  },
  {
    code: "ERR_DIFF_IMPOSSIBLE",
    args: ["generate", "more"],
    arrange: (project) => (schema(project, "id: m.utf8(), name: m.utf8()"), pending(project, people)),
  },
  {
    code: "ERR_NUMBER_USED",
    args: ["up"],
    arrange: async (project) => {
      await pending(project, people);
      await applied(project);
      rmSync(join(project.folder, "migrations/0001_m.ts"));
      project.migration("0001_other.ts", `m.createTable("other", { id: m.int32() })`);
    },
  },
  {
    code: "ERR_RESOLVE_UNKNOWN",
    args: ["resolve", "--reverted", "9", "--yes"],
    arrange: (project) => pending(project, people),
  },
  {
    code: "ERR_RESOLVE",
    args: ["resolve", "--reverted", "1", "--yes"],
    arrange: async (project) => {
      await pending(project, people, `m.renameColumn("people", "name", "title")`);
      await applied(project);
    },
  },
  {
    code: "ERR_SYMBOLIC_LINK",
    args: ["up"],
    arrange: async (project) => {
      await pending(project, people, `m.renameColumn("people", "name", "title")`);
      const [inside, outside] = [join(project.database, "people.lance"), join(temporaryFolder(), "people.lance")];
      renameSync(inside, outside);
      symlinkSync(outside, inside);
    },
  },
];

test.each(cases)("$code", async ({ code, args, arrange }) => {
  const project = aProject();
  await arrange?.(project);
  const ended = await project.migrate([...args, "--json"]);
  const last = ended.stdout.trimEnd().split("\n").at(-1) ?? "";
  expect(last.startsWith("{") ? JSON.parse(last) : ended).toMatchObject({ event: "error", code });
  expect(ended.code).toBe(endingCode(catalogue[code].outcome));
});

test.each(["up", "plan", "status", "history", "doctor", "pull"])(
  "ERR_PROJECT_MISSING: without a configuration, migrate %s creates no database and does not report on one",
  async (command) => {
    const project = aProject();
    rmSync(project.database, { recursive: true });
    project.migration("0001_people.ts", people);
    const code = await project.migrate([command, "--json"]).then(({ stdout, ...ended }) => {
      expect(JSON.parse(stdout)).toMatchObject({ event: "error", code: "ERR_PROJECT_MISSING" });
      return ended.code;
    });
    expect([code, existsSync(project.database)]).toEqual([2, false]);
    expect(await project.migrate(["init", "--yes"])).toMatchObject({ code: 0 });
    if (command === "up") expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  },
);

test.each([
  ["ERR_REPAIR_AMBIGUOUS", ["repair"]],
  ["ERR_REPAIR_PLACE", ["repair", "--to", "2"]],
] as const)("%s is printed with the report", async (code, args) => {
  const project = aProject();
  const retypes = ["int64", "int32"].map((type) => `m.retypeColumn("people", "id", m.${type}())`);
  await pending(project, people, ...retypes);
  await applied(project);
  await (await lancedb.connect(project.database)).dropTable("_migrations");
  // In a process of its own: codes are left out of what others print.
  const { code: exit, stderr } = await project.start(args).finished;
  expect([exit, stderr]).toEqual([4, expect.stringContaining(` (${code})\n`)]);
});

test("ERR_UNCAUGHT", async () => {
  const project = aProject();
  const wait = "await new Promise((done) => setTimeout(done, 1000));\n";
  project.write("migrations/0001_bad.ts", `void Promise.reject(new Error("no luck"));\n${wait}export const up = [];\n`);
  const { code, stderr } = await project.start(["up"]).finished;
  expect([code, stderr]).toEqual([1, expect.stringContaining(" (ERR_UNCAUGHT)\n")]);
});
