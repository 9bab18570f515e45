/** The action of action.yml: step by step in a git repository, with the event of a pull request and a server for comments. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { serve } from "../rest/servers.ts";
import { aProject, root, type Project } from "../support/project.ts";
import { runAction, type Ended } from "./runner.ts";

const token = "ghs_0123456789abcdef";
const branch = "$(touch${IFS}pwned);`touch${IFS}pwned`";
const pull = { number: 7, head: { ref: branch, repo: { full_name: "o/r" } }, base: { ref: "main" } };

interface Comment {
  readonly id: number;
  body: string;
  readonly user: { readonly type: string; readonly login: string };
  readonly html_url: string;
}

/** As GitHub answers. `refuses`: the status of answers to requests that write. */
async function aCommentServer(comments: Comment[], refuses?: number) {
  return await serve((response, { method, path, headers, body }) => {
    const send = (status: number, value: unknown) => response.writeHead(status).end(JSON.stringify(value));
    if (headers.authorization !== `Bearer ${token}`) return send(401, {});
    if (path === "/user") return send(403, {});
    const text = () => (JSON.parse(body.toString()) as { body: string }).body;
    const [, id] = /^\/repos\/o\/r\/issues\/comments\/(\d+)$/.exec(path) ?? [];
    const [, page] = /^\/repos\/o\/r\/issues\/7\/comments\?per_page=100&page=(\d+)$/.exec(path) ?? [];
    if (method === "GET" && page !== undefined)
      return send(200, comments.slice((Number(page) - 1) * 100, Number(page) * 100));
    if (refuses !== undefined) return send(refuses, {});
    const found = comments.find((one) => String(one.id) === id);
    if (method === "PATCH" && found !== undefined) {
      found.body = text();
      return send(200, found);
    }
    if (method !== "POST" || path !== "/repos/o/r/issues/7/comments") return send(404, {});
    const made = { id: comments.length + 1, body: text(), user: bot, html_url: `https://x/${comments.length + 1}` };
    comments.push(made);
    return send(201, made);
  });
}

const bot = { type: "Bot", login: "github-actions[bot]" };
const rename = `m.renameColumn("documents", "title", "headline"),`;
const drop = `m.dropColumn("documents", "title"),`;

/** A checkout of a pull request that adds a migration to one that is applied. */
async function aCheckout(second: string): Promise<Project> {
  const project = aProject();
  const { folder } = project;
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", ...args], { cwd: folder });
  const targets = `production: { kind: "lance", uri: ".lancedb" }`;
  project.write("migrate.config.ts", `export default { targets: { ${targets} } };\n`);
  project.write(".gitignore", "node_modules\n.lancedb\n");
  mkdirSync(join(folder, "node_modules/.bin"));
  symlinkSync(join(root, "dist/bin.js"), join(folder, "node_modules/.bin/migrate"));
  project.migration("0001_documents.ts", `m.createTable("documents", { id: m.int32(), title: m.utf8() }),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("commit", "-qm", "first");
  git("checkout", "-qb", branch);
  project.migration("0002_titles.ts", second);
  git("add", ".");
  git("commit", "-qm", "second");
  return project;
}

/** Where the package is installed, the action is beside it. */
const action = ({ folder }: Project) => join(folder, "node_modules/lance-migrate");

async function use(
  project: Project,
  inputs: Readonly<Record<string, string>>,
  api = "http://127.0.0.1:9",
  event: object = { pull_request: pull },
  cancelAt?: RegExp,
  name = "pull_request" in event ? "pull_request" : "push",
): Promise<Ended> {
  const env = { GITHUB_API_URL: api, GITHUB_REPOSITORY: "o/r", GITHUB_HEAD_REF: branch, GITHUB_EVENT_NAME: name };
  const ended = await runAction({
    action: action(project),
    workspace: project.folder,
    inputs,
    event,
    env,
    token,
    cancelAt,
  });
  expect(existsSync(join(project.folder, "pwned"))).toBe(false);
  expect(ended.log + ended.summary).not.toContain(token);
  return ended;
}

const withoutTimes = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, "NOW");

test("a plan is commented, the comment is edited, and after an approval the plan is applied", async () => {
  const project = await aCheckout(rename);
  // Others write such a line too, and there is more than one page of comments.
  const first = "<!-- lance-migrate action plan . production  -->";
  const human = { type: "User", login: "somebody" };
  const others = Array.from({ length: 101 }, (_, at) => ({ id: at + 1, body: first, user: human, html_url: "" }));
  const comments: Comment[] = [...others];
  const { url } = await aCommentServer(comments);
  const planning = { command: "plan", target: "production" };
  const planned = await use(project, planning, url);
  expect(planned).toMatchObject({ isSuccess: true });
  expect(planned.outputs).toEqual({
    pending: "1",
    refused: "false",
    plan: "lance-migrate-plan.json",
    "comment-url": "https://x/102",
  });
  expect(withoutTimes(comments[101]!.body)).toContain(
    `${first}\n<!-- lance-migrate production up -->\n### 1 migration for \`production\`: ready\n\n| migration |`,
  );
  expect(comments[101]!.body).toBe(`${first}\n${planned.summary}`);
  project.migration("0003_more.ts", `m.addColumn("documents", "n", m.int32()),`);
  expect(await use(project, planning, url)).toMatchObject({
    outputs: { "comment-url": "https://x/102", pending: "2" },
  });
  expect(comments).toHaveLength(102);
  expect(comments[101]!.body).toContain("### 2 migrations for");
  expect(comments.slice(0, 101)).toEqual(others);

  const applied = await use(project, { command: "up", target: "production" }, url, {});
  expect(applied).toMatchObject({
    isSuccess: true,
    summary: expect.stringMatching(/^### Migrations are applied\n\n {4}/),
  });
  expect(applied.log).toContain("2 migrations applied\n");
  expect(applied.log).toContain("no comment: the event is not about a pull request\n");
  const { plan } = JSON.parse(readFileSync(join(project.folder, "lance-migrate-plan.json"), "utf8")) as {
    plan: { pending: unknown[] };
  };
  expect(plan.pending).toHaveLength(2);
  // A job that is repeated succeeds.
  const again = () => use(project, { command: "up", target: "production" }, url);
  expect(await again()).toMatchObject({ isSuccess: true, log: expect.stringMatching(/^nothing to do\n/) });
  expect(await project.migrate(["down", "--target", "production"])).toMatchObject({ code: 0 });
  expect(await again()).toMatchObject({
    isSuccess: false,
    log: expect.stringContaining("the saved plan can't be carried out"),
  });
  expect(comments[102]!.body).toMatch(
    /^<!-- lance-migrate action up \. production {2}-->\n### `migrate up` ended with 4\n/,
  );
});

test("a refused plan is commented and fails, and nothing is saved", async () => {
  const project = await aCheckout(drop);
  project.write("lance-migrate-plan.json", "an old plan");
  const comments: Comment[] = [];
  const { url } = await aCommentServer(comments);
  const { isSuccess, outputs, log } = await use(project, { command: "plan" }, url);
  expect({ isSuccess, ...outputs }).toMatchObject({ isSuccess: false, refused: "true", plan: "", pending: "1" });
  expect(comments[0]!.body).toContain("> - `0002_titles`: drop documents.title: needs consent");
  expect(comments[0]!.body).toMatch(
    /\n\n\*\*There is no plan to apply:\*\* `migrate plan` ends with 4\.\n\n {4}0002_titles\.ts, step 1/,
  );
  expect(log).toContain("needs consent");
  expect(existsSync(join(project.folder, "lance-migrate-plan.json"))).toBe(false);
});

test("if no plan can be made, the comment states why once", async () => {
  const project = await aCheckout(`m.renameColumn("documents", "titel", "headline"),`);
  const comments: Comment[] = [];
  const { url } = await aCommentServer(comments);
  expect(await use(project, { command: "plan" }, url)).toMatchObject({
    isSuccess: false,
    outputs: { refused: "true" },
  });
  expect(comments[0]!.body).toContain("### No plan for `production`");
  expect(comments[0]!.body.split("titel")).toHaveLength(2);
});

test("a token that may not write, as on a pull request from a fork, gives a warning", async () => {
  const project = await aCheckout(rename);
  const { url } = await aCommentServer([], 403);
  const { isSuccess, log, summary } = await use(project, { command: "plan" }, url);
  expect(isSuccess).toBe(true);
  expect(log).toContain("::warning::no comment: POST /repos/o/r/issues/7/comments was answered with 403; ");
  expect(summary).toContain("### 1 migration for `production`");
});

test("check runs all checks that the project has, and fails if one fails", async () => {
  const project = await aCheckout(drop);
  const lint = await use(project, { command: "check", sarif: "lint.sarif" });
  expect(lint).toMatchObject({ isSuccess: false, outputs: { "comment-url": "" } });
  expect(lint.log).toContain("::warning file=migrations/0002_titles.ts,line=4,col=1,title=loses-data::");
  expect(lint.log).not.toContain("migrate generate");
  expect(readFileSync(join(project.folder, "lint.sarif"), "utf8")).toContain(`"loses-data"`);
  const known = await use(project, { command: "check", since: "2" });
  expect(known).toMatchObject({ isSuccess: true, log: expect.not.stringContaining("loses-data") as string });
  const start = `import * as m from "lance-migrate";\nexport default m.defineSchema`;
  project.write("schema.ts", `${start}({ documents: { id: m.int32() } });\n`);
  expect(await project.migrate(["types"])).toMatchObject({ code: 0 });
  expect(await use(project, { command: "check", "deny-warnings": "false" })).toMatchObject({
    isSuccess: true,
    log: expect.stringMatching(/migrate lint\n[^]*migrate generate\n[^]*migrate types\n/),
  });
  project.write("schema.ts", `${start}({ documents: { id: m.int64() } });\n`);
  expect(await use(project, { command: "check", "deny-warnings": "false" })).toMatchObject({ isSuccess: false });
});

test("a run in a cancelled job stops at a safe point, and the next one resumes it", async () => {
  const project =
    await aCheckout(`m.insertRows("documents", Array.from({ length: 30 }, (_, id) => ({ id, title: "a" })), { key: "id" }),
    m.addColumn("documents", "note", m.utf8()),
    m.backfillColumn("documents", "note", { from: ["title"], key: "id", with: "./note.js", version: "1", batch: 1 }),`);
  const note = (milliseconds: number) =>
    `export default async () => {\n  await new Promise((done) => setTimeout(done, ${milliseconds}));\n  return ["x"];\n};\n`;
  project.write("note.js", note(500));
  const up = { command: "up", comment: "false" };
  const cancelled = await use(project, up, undefined, {}, /add documents\.note utf8 \(/);
  expect(cancelled).toMatchObject({ isSuccess: false, log: expect.stringContaining("\ninterrupted; ") });
  expect(cancelled.summary).toContain("### `migrate up` ended with 130\n");
  project.write("note.js", note(0));
  expect(await use(project, up)).toMatchObject({
    isSuccess: true,
    log: expect.stringContaining("applied 0002_titles"),
  });
});

test("what cannot be run is named", async () => {
  const project = aProject();
  expect(await use(project, { command: "plan" })).toMatchObject({
    isSuccess: false,
    log: expect.stringContaining("node_modules/.bin/migrate does not exist; install the packages before this action"),
  });
  const other = await aCheckout(rename);
  expect(await use(other, { command: "down" })).toMatchObject({
    isSuccess: false,
    log: "::error::the input command must be check, plan or up\n",
  });
});

test("more flags may stand on several lines", async () => {
  const project = await aCheckout(rename);
  project.migration("0003_more.ts", `m.addColumn("documents", "n", m.int32()),`);
  const ended = await use(project, { command: "up", target: "production", arguments: "--wait 0\n--to 2\n" });
  expect(ended.log).toContain("1 migration applied");
  expect((await project.migrate(["status"])).stdout).toContain("0003");
});

type Git = (...args: readonly string[]) => unknown;

test.each<readonly [string, string, (git: Git, project: Project) => unknown]>([
  ["pull_request", "a header", (git) => git("config", "http.https://github.com/.extraheader", "AUTHORIZATION: eA==")],
  ["workflow_run", "a header", (git) => git("config", "http.https://github.com/.extraheader", "AUTHORIZATION: eA==")],
  [
    // A newer checkout keeps it in a file of its own, which the configuration includes for this folder.
    "issue_comment",
    "an included header",
    (git, project) => {
      project.write(".git/own.config", `[http "https://github.com/"]\n\textraheader = AUTHORIZATION: eA==\n`);
      git("config", `includeIf.gitdir:${join(project.folder, ".git")}.path`, join(project.folder, ".git/own.config"));
    },
  ],
  ["pull_request_target", "a helper", (git) => git("config", "credential.helper", "store --file=eA==")],
  ["merge_group", "an address", (git) => git("remote", "add", "origin", "https://x-access-token:eA==@github.com/o/r")],
])("code of others that could read a credential is not run: %s, %s", async (name, _, keep) => {
  const project = await aCheckout(rename);
  keep((...args) => execFileSync("git", args, { cwd: project.folder }), project);
  const ended = await use(project, { command: "plan", target: "production" }, undefined, undefined, undefined, name);
  expect(ended.isSuccess).toBe(false);
  expect(ended.log).toContain("set persist-credentials to false for actions/checkout");
  expect(ended.log).not.toContain("eA==");
});

test("code of others without a credential, and own code with one, is run", async () => {
  const project = await aCheckout(rename);
  const git = (...args: readonly string[]) => execFileSync("git", args, { cwd: project.folder });
  git("remote", "add", "origin", "git@github.com:o/r.git");
  const plan = { command: "plan", target: "production", comment: "false" };
  expect(await use(project, plan, undefined, undefined, undefined, "workflow_run")).toMatchObject({ isSuccess: true });
  git("config", "http.https://github.com/.extraheader", "AUTHORIZATION: basic eA==");
  expect(await use(project, plan, undefined, {})).toMatchObject({ isSuccess: true });
});
