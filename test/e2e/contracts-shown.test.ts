/** What plan, up and down state about the contracts that they read. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lacks } from "../support/needs.ts";
import { aProject, type Project } from "../support/project.ts";
import { apiKey, aService } from "../support/service.ts";
import { columnsOf } from "../support/tables.ts";
import { atTerminal } from "./support/terminal.ts";

const documents = { reads: { title: "utf8" } };

function withContracts(): Project {
  const project = aProject();
  const target = `{ kind: "lance", uri: ".lancedb", contracts: "contracts" }`;
  project.write("migrate.config.ts", `export default { targets: { here: ${target} } };\n`);
  project.migration("0001_documents.ts", `m.createTable("documents", { id: m.int32(), title: m.utf8() })`);
  return project;
}

function contract(project: Project, path: string, release: string, tables: object = { documents }): void {
  project.write(path, JSON.stringify({ format: 1, application: "search", release, tables }));
}

const names = (...releases: readonly (readonly [release: string, file: string])[]) =>
  releases.map(([release, file]) => ({ application: "search", release, file }));

test("plan, up and down state the releases, and without contracts nothing", async () => {
  const project = withContracts();
  contract(project, "contracts/1.json", "1");
  contract(project, "contracts/2.json", "2");
  contract(project, "new.json", "3");
  const text = await project.migrate(["plan", "--contract", "new.json,contracts/1.json"]);
  expect(text.stdout).toMatch(
    /\n1 migration, 1 action: metadata only, 1 version\ncontracts: search 1, search 2, search 3\nverdict: ready\n$/,
  );
  const json = await project.migrate(["plan", "--json", "--contract", "new.json"]);
  expect(JSON.parse(json.stdout).contracts).toEqual({
    releases: names(["1", "contracts/1.json"], ["2", "contracts/2.json"], ["3", "new.json"]),
    notes: [],
    refused: 0,
  });
  const markdown = await project.migrate(["plan", "--format", "markdown"]);
  expect(markdown.stdout).toContain("\nContracts: search 1, search 2.\n");
  const up = await project.migrate(["up"]);
  expect(up.stderr).toContain("1 migration pending, 1 action\ncontracts: search 1, search 2\n0001_documents\n");
  project.migration("0002_lang.ts", `m.addColumn("documents", "lang", m.utf8())`);
  const events = (await project.migrate(["up", "--json"])).stdout.trim().split("\n");
  expect(events.map((line) => JSON.parse(line))).toContainEqual({
    event: "contracts",
    releases: names(["1", "contracts/1.json"], ["2", "contracts/2.json"]),
    notes: [],
  });
  expect((await project.migrate(["plan", "--down"])).stdout).toContain("\ncontracts: search 1, search 2\n");
  expect((await project.migrate(["down"])).stderr).toContain("\ncontracts: search 1, search 2\n");
  project.write("migrate.config.ts", `export default { targets: { here: { kind: "lance", uri: ".lancedb" } } };\n`);
  const plain = [["plan"], ["plan", "--json"], ["plan", "--format", "markdown"], ["up"], ["down", "--json"]];
  for (const args of plain) {
    const { code, stdout, stderr } = await project.migrate(args);
    expect([args, code, `${stdout}${stderr}`.includes("contract")]).toEqual([args, 0, false]);
  }
});

test("the totals of a plan state how many migrations are refused by a contract", async () => {
  const project = withContracts();
  contract(project, "contracts/1.json", "1");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  project.migration("0002_lang.ts", `m.addColumn("documents", "lang", m.utf8())`);
  project.migration("0003_headline.ts", `m.renameColumn("documents", "title", "headline")`);
  const text = await project.migrate(["plan"]);
  expect(text).toMatchObject({ code: 4 });
  expect(text.stdout).toMatch(/\n2 migrations, 2 actions: metadata only, [12] versions?; 1 refused by a contract\n/);
  const markdown = await project.migrate(["plan", "--format", "markdown"]);
  expect(markdown.stdout).toMatch(/\nIn total: metadata only, [12] versions?; 1 refused by a contract\.\n/);
  const json = await project.migrate(["plan", "--json"]);
  expect(JSON.parse(json.stdout).contracts).toMatchObject({ refused: 1 });
});

test("an empty folder and a contract without tables are noted, as they protect nothing", async () => {
  const project = withContracts();
  project.write("contracts/README.md", "The releases that run.");
  const empty = "the folder contracts has no contracts, so no release is protected";
  const plan = await project.migrate(["plan"]);
  expect(plan).toMatchObject({
    code: 0,
    stderr: `note: ${empty}\n`,
    stdout: expect.stringMatching(/\ncontracts: none\nverdict: ready\n$/),
  });
  const markdown = await project.migrate(["plan", "--format", "markdown"]);
  expect(markdown).toMatchObject({ stderr: "", stdout: expect.stringContaining(`\n> [!NOTE]\n> - ${empty}\n`) });
  expect((await project.migrate(["up"])).stderr).toContain(`1 action\nnote: ${empty}\n`);
  project.migration("0002_lang.ts", `m.addColumn("documents", "lang", m.utf8())`);
  contract(project, "contracts/1.json", "1", {});
  const nothing = "contracts/1.json states no tables, so it protects nothing";
  const { stdout } = await project.migrate(["plan", "--json"]);
  expect(JSON.parse(stdout).contracts).toEqual({
    releases: names(["1", "contracts/1.json"]),
    notes: [nothing],
    refused: 0,
  });
  expect((await project.migrate(["up"])).stderr).toContain(`contracts: search 1\nnote: ${nothing}\n`);
  expect((await project.migrate(["plan", "--down"])).stderr).toBe(`note: ${nothing}\n`);
});

test("if nothing is pending, a contract that the tables break is noted, and nothing fails", async () => {
  const project = withContracts();
  contract(project, "contracts/1.json", "1");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const holds = await project.migrate(["up"]);
  expect(holds).toEqual({ code: 0, stdout: "nothing to do\n", stderr: "" });
  expect(await project.migrate(["plan"])).toEqual({
    code: 0,
    stdout: "nothing to do\ncontracts: search 1\n",
    stderr: "",
  });
  contract(project, "contracts/0.json", "0", { documents: { reads: { body: "utf8", title: "int32" } }, gone: {} });
  const wayOut =
    "correct contracts/0.json, or remove it if that release no longer runs; migrate verify shows whether something else has changed the table";
  const note = `search 0 reads documents.body, which does not exist; ${wayOut}`;
  const expected = { code: 0, stderr: `note: ${note}\n`, stdout: "nothing to do\ncontracts: search 0, search 1\n" };
  expect(await project.migrate(["plan"])).toEqual(expected);
  const noted = { code: 0, stdout: "nothing to do\n", stderr: `contracts: search 0, search 1\nnote: ${note}\n` };
  expect(await project.migrate(["up"])).toEqual(noted);
  const { stdout } = await project.migrate(["up", "--json"]);
  const [event, finished] = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(event).toMatchObject({ event: "contracts", notes: [note] });
  expect(finished).toMatchObject({ event: "finished", applied: 0 });
  project.write("contracts/0.json", "{");
  expect(await project.migrate(["up"])).toEqual({
    code: 0,
    stdout: "nothing to do\n",
    stderr: "note: the contract contracts/0.json is not JSON\n",
  });
  rmSync(join(project.folder, "contracts"), { recursive: true });
  const missing =
    "the folder contracts, which target here names in its setting contracts, does not exist; create it (it may be empty), or correct the setting";
  expect((await project.migrate(["up"])).stderr).toBe(`note: ${missing}\n`);
  project.migration("0002_lang.ts", `m.addColumn("documents", "lang", m.utf8())`);
  for (const command of ["plan", "up"])
    expect(await project.migrate([command])).toEqual({ code: 2, stdout: "", stderr: `${missing}\n` });
  expect(await columnsOf(project.database, "documents")).toEqual(["id: int32", "title: utf8"]);
});

test("on a service that can't describe its tables, only missing tables are noted", async () => {
  const service = await aService();
  const project = withContracts();
  const target = { kind: "rest", endpoint: service.url, dialect: "service", contracts: "contracts" };
  project.write("migrate.config.ts", `export default { targets: { here: ${JSON.stringify(target)} } };\n`);
  project.write("contracts/README.md", "The releases that run.");
  const key = { MIGRATE_API_KEY: apiKey };
  expect(await project.migrate(["up"], key)).toMatchObject({ code: 0 });
  contract(project, "contracts/0.json", "0", { gone: { reads: { title: "utf8" } } });
  contract(project, "contracts/1.json", "1", { documents: { reads: { body: "utf8" } } });
  const wayOut =
    "correct contracts/0.json, or remove it if that release no longer runs; migrate verify shows whether something else has changed the table";
  const note = `note: search 0 uses gone, which does not exist; ${wayOut}\n`;
  expect(await project.migrate(["plan"], key)).toMatchObject({ code: 0, stderr: note });
});

test.skipIf(lacks("terminal"))("down at a terminal states them once, before it asks", async () => {
  const project = withContracts();
  project.write("contracts/README.md", "The releases that run.");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  contract(project, "contracts/1.json", "1", { other: {} });
  const done = await atTerminal(project, "down", /everything as it is\) /, ["yes\n"]);
  expect(done.code).toBe(0);
  expect(done.shown.match(/contracts: search 1/g)).toHaveLength(1);
  expect(done.shown).toMatch(/contracts: search 1[^]*everything as it is/);
});

test("prepare reads no contracts", async () => {
  const project = withContracts();
  contract(project, "contracts/1.json", "1", { documents: { reads: { gone: "utf8" } } });
  expect(await project.migrate(["plan"])).toMatchObject({ code: 2 });
  expect(await project.migrate(["prepare"])).toMatchObject({ code: 0 });
  rmSync(join(project.folder, "contracts"), { recursive: true });
  expect(await project.migrate(["prepare"])).toMatchObject({ code: 0 });
});

test("of several databases, the contracts are stated once", async () => {
  const project = withContracts();
  const target = `{ kind: "lance", uri: "data/{database}", databases: ["a", "b"], contracts: "contracts" }`;
  project.write("migrate.config.ts", `export default { targets: { here: ${target} } };\n`);
  contract(project, "contracts/1.json", "1");
  const { code, stderr } = await project.migrate(["up"]);
  expect(code).toBe(0);
  expect(stderr.match(/^.*contracts.*$/gm)).toEqual(["contracts: search 1"]);
});
