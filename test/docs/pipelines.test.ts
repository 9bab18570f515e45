/** The pipelines of docs/ci.md: what their jobs run succeeds, in this order, in a project with a pending migration. */
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { expect, test } from "vitest";
import { runAction } from "../action/runner.ts";
import { serve } from "../rest/servers.ts";
import { aProject, root, temporaryFolder, type Project } from "../support/project.ts";
import { ofThisCommit } from "../support/rounds.ts";
import { addRows } from "../support/tables.ts";
import { allBlocks, at } from "./blocks.ts";

const blocks = allBlocks().filter(({ page, notRun }) => page === "docs/ci.md" && notRun === undefined);
const yaml = blocks.filter(({ language }) => language === "yaml");
/** Those that apply migrations. The others check what is applied, or are a part of a job. */
const pipelines = yaml.filter(({ text }) => /^ +resource_group|^ +concurrency/m.test(text));
const others = yaml.filter((block) => !pipelines.includes(block));
const action = "./node_modules/lance-migrate";

/** For each commit half of them: all run the same commands. */
const some = ofThisCommit(pipelines, 2);

test.each(some.map((block) => [at(block), block.text]))("%s", async (_, text) => {
  const project = await aProjectInCi();
  const { url } = await serve((response) => response.writeHead(201).end("{}"));
  const { notes, env: gitlab } = await aMergeRequest();
  const env = { GITHUB_API_URL: url, ...gitlab };
  const steps = stepsIn(parse(text));
  expect(steps.length).toBeGreaterThan(3);
  for (const step of steps)
    expect({ ...step, ...(await runStep(project, step, env)) }).toMatchObject({ isSuccess: true });
  // Without the approved plan, nothing would be applied there.
  const status = await runIn(project, "npx migrate status --target production --json", env);
  expect(JSON.parse(status.log)).toMatchObject({ pending: [] });
  if (text.includes("curl")) expect(notes.map(({ body }) => body)).toEqual([planOf(1)]);
});

test.each(others.map((block) => [at(block), block.text]))("%s, once all is applied", async (_, text) => {
  const project = await aProjectInCi();
  expect(await project.migrate(["up", "--target", "production"])).toMatchObject({ code: 0 });
  const steps = stepsIn(parse(text));
  expect(steps).not.toEqual([]);
  for (const step of steps)
    expect({ ...step, ...(await runStep(project, step, {})) }).toMatchObject({ isSuccess: true });
});

/** The scripts of docs/ci.md, in a clone of a repository with the contract of a release that runs. */
async function aRelease(): Promise<Project> {
  const project = await aProjectInCi(`, contracts: "contracts"`);
  const { folder } = project;
  project.write(".gitignore", "node_modules\ncontracts\n.lancedb\nproduction\n");
  const origin = temporaryFolder();
  const git = (...args: readonly string[]) => execFileSync("git", args, { cwd: folder, env: gitEnv, stdio: "pipe" });
  git("init", "-q", "--bare", "-b", "main", origin);
  git("init", "-q", "-b", "main");
  git("remote", "add", "origin", origin);
  git("add", ".");
  git("commit", "-qm", "first");
  git("push", "-q", "origin", "main");
  git("checkout", "-q", "--orphan", "contracts");
  git("rm", "-rfq", "--cached", ".");
  project.write("1.4.0.json", JSON.stringify(contract("1.4.0")));
  git("add", "-f", "1.4.0.json");
  git("commit", "-qm", "1.4.0 starts");
  git("push", "-q", "origin", "contracts");
  git("checkout", "-qf", "main");
  project.write("contract.json", JSON.stringify(contract("1.5.0")));
  project.write("roll-out.sh", `ls contracts >running`);
  chmodSync(join(folder, "roll-out.sh"), 0o755);
  return project;
}

const contract = (release: string) => ({
  format: 1,
  application: "search",
  release,
  tables: { documents: { reads: { id: "int64" }, writes: {}, appends: false } },
});
const identity = { NAME: "Ada", EMAIL: "ada@example.org" };
const gitEnv = {
  ...process.env,
  ...Object.fromEntries(
    ["AUTHOR", "COMMITTER"].flatMap((who) =>
      Object.entries(identity).map(([key, value]) => [`GIT_${who}_${key}`, value]),
    ),
  ),
};
const scriptWith = (part: string) =>
  blocks.find(({ language, text }) => language === "sh" && text.includes(part))!.text;

test("a deployment adds the contract of its release, and removes that of the old one", async () => {
  const project = await aRelease();
  expect(await runIn(project, scriptWith("roll-out"), gitEnv as never)).toMatchObject({ isSuccess: true });
  const { folder } = project;
  expect(readFileSync(join(folder, "running"), "utf8")).toBe("1.4.0.json\n1.5.0.json\n");
  const left = execFileSync("git", ["ls-tree", "--name-only", "origin/contracts"], { cwd: join(folder, "contracts") });
  expect(left.toString()).toBe("1.5.0.json\n");
});

test("a pull request that breaks a contract is found without a key", async () => {
  const project = await aRelease();
  project.write("contracts/1.4.0.json", JSON.stringify(contract("1.4.0")));
  const script = scriptWith("lock.json");
  expect(await runIn(project, script, {})).toMatchObject({ isSuccess: true });
  project.write(
    "migrations/0002_keys.ts",
    `import * as m from "lance-migrate";\nexport const up = [m.renameColumn("documents", "id", "key")];`,
  );
  expect(await runIn(project, script, {})).toMatchObject({
    isSuccess: false,
    log: expect.stringContaining("would break a release that still runs: search 1.4.0") as string,
  });
});

const planOf = (count: number) =>
  expect.stringMatching(
    new RegExp(
      `^<!-- lance-migrate production up -->\n### ${count} migrations? for \`production\`: ready\n[^]*</sub>\n$`,
    ),
  ) as string;

test("the GitLab job edits its own note, wherever that is among others", async () => {
  const text = pipelines.map((block) => block.text).find((one) => one.includes("curl"))!;
  const [{ command }] = stepsIn((parse(text) as { comment: unknown }).comment) as [PipelineStep];
  const project = await aProjectInCi();
  const { notes, env: gitlab } = await aMergeRequest();
  // Many projects set this for their jobs.
  const env = { ...gitlab, FORCE_COLOR: "1" };
  // People can write such a first line, too, and a token of a maintainer could edit what they have written.
  const others = Array.from({ length: 130 }, (_, id) => ({
    id,
    author: 5,
    body: `<!-- lance-migrate production up -->\n${id}`,
  }));
  notes.push(...others, { id: 130, author: bot, body: "<!-- lance-migrate staging up -->\r\nof another target" });
  expect(await runIn(project, command, env)).toMatchObject({ isSuccess: true });
  expect(notes.slice(131)).toEqual([{ id: 131, author: bot, body: planOf(1) }]);
  expect(await project.migrate(["new", "more", "--add-column", "documents.n:int32"])).toMatchObject({ code: 0 });
  expect(await runIn(project, command, env)).toMatchObject({ isSuccess: true });
  expect(notes.slice(131)).toEqual([{ id: 131, author: bot, body: planOf(2) }]);
  expect(notes.slice(0, 130)).toEqual(others);
  // A plan that is known to fail is written, and fails the job.
  expect(await project.migrate(["up", "--target", "production"])).toMatchObject({ code: 0 });
  await addRows(join(project.folder, "production"), "documents", [{ id: 1n, n: null }]);
  project.write(
    "migrations/0003_required.ts",
    `import * as m from "lance-migrate";\nexport const up = [m.setNullable("documents", "n", false)];`,
  );
  expect(await runIn(project, command, env)).toMatchObject({ isSuccess: false });
  expect(notes.slice(131)).toEqual([{ id: 131, author: bot, body: expect.stringContaining(": refused\n") as string }]);
  // Without a plan, the note stays.
  const before = [...notes];
  project.write("migrate.config.ts", "export default 1;");
  expect(await runIn(project, command, env)).toMatchObject({
    isSuccess: false,
    log: expect.not.stringContaining("curl") as string,
  });
  expect(notes).toEqual(before);
});

const bot = 42;

interface Note {
  readonly id: number;
  readonly author: number;
  readonly body: string;
}

/** A merge request of GitLab with its notes, the oldest first, and the variables of a job (https://docs.gitlab.com/api/notes/). */
async function aMergeRequest() {
  const notes: Note[] = [];
  const { url } = await serve((response, { method, path, headers, body }) => {
    const reply = (status: number, value: unknown) => response.writeHead(status).end(JSON.stringify(value));
    const { pathname, searchParams } = new URL(path, "http://gitlab");
    const [of, id] = pathname.split(/(?<=\/notes)\//);
    const text = new URLSearchParams(body.toString()).get("body");
    const shown = ({ author, ...note }: Note) => ({ ...note, author: { id: author } });
    if (headers["private-token"] !== "glpat-0123456789") return reply(401, {});
    if (pathname === "/user") return reply(200, { id: bot });
    if (of !== "/projects/3/merge_requests/7/notes") return reply(404, {});
    if (method === "GET") {
      const [size, page] = ["per_page", "page"].map((name) => Number(searchParams.get(name)));
      const sorted = searchParams.get("sort") === "asc" ? notes : notes.toReversed();
      return reply(200, sorted.slice((page! - 1) * size!, page! * size!).map(shown));
    }
    if (!text) return reply(400, {});
    const note = { id: id === undefined ? notes.length : Number(id), author: bot, body: text };
    if (method !== (id === undefined ? "POST" : "PUT") || note.id > notes.length) return reply(404, {});
    notes[note.id] = note;
    return reply(id === undefined ? 201 : 200, shown(note));
  });
  const env = { CI_API_V4_URL: url, CI_PROJECT_ID: "3", CI_MERGE_REQUEST_IID: "7", COMMENT_TOKEN: "glpat-0123456789" };
  return { notes, env };
}

interface PipelineStep {
  /** Of a shell, or the folder of the action. */
  readonly command: string;
  readonly inputs?: Readonly<Record<string, string>>;
}

/** The commands (`run` of GitHub, `script` of GitLab, whose lines share a shell) and the uses of our action, at any depth. */
function stepsIn(value: unknown, key = ""): readonly PipelineStep[] {
  if (key === "script") return stepsIn((value as readonly string[]).join("\n"), "run");
  if (typeof value === "string") return key === "run" && /\b(migrate|curl) /.test(value) ? [{ command: value }] : [];
  if (Array.isArray(value)) return value.flatMap((item) => stepsIn(item, key));
  const object = Object(value) as Readonly<Record<string, unknown>>;
  if (object["uses"] === action)
    return [{ command: action, inputs: object["with"] as Readonly<Record<string, string>> }];
  return Object.entries(object).flatMap(([name, item]) => stepsIn(item, name));
}

async function runStep(project: Project, { command, inputs }: PipelineStep, env: Readonly<Record<string, string>>) {
  const { folder } = project;
  if (inputs === undefined) return await runIn(project, command, env);
  return await runAction({ action: join(folder, command), workspace: folder, inputs, event: {}, env, token: "" });
}

/** `setting`: of the target `production`. */
async function aProjectInCi(setting = ""): Promise<Project> {
  const project = aProject();
  const targets = `local: { kind: "lance", uri: ".lancedb" }, production: { kind: "lance", uri: "production"${setting} }`;
  project.write("migrate.config.ts", `export default { target: "local", targets: { ${targets} } };`);
  const start = `import { defineSchema, int64 } from "lance-migrate";`;
  project.write("schema.ts", `${start}\nexport default defineSchema({ documents: { id: int64() } });`);
  for (const args of [["generate", "documents"], ["types"]])
    expect(await project.migrate(args)).toMatchObject({ code: 0 });
  mkdirSync(join(project.folder, "node_modules/.bin"));
  symlinkSync(join(root, "dist/bin.js"), join(project.folder, "node_modules/.bin/migrate"));
  return project;
}

async function runIn({ folder }: Project, command: string, own: Readonly<Record<string, string>>) {
  const script = command.replaceAll(/npx (?:--no )?/g, "node_modules/.bin/");
  const child = spawn("bash", ["-eo", "pipefail", "-c", script], { cwd: folder, env: { ...process.env, ...own } });
  let log = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (log += text));
  const code = await new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
  return { isSuccess: code === 0, log };
}
