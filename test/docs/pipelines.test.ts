/** The pipelines of docs/ci.md: what their jobs run succeeds, in this order, in a project with a pending migration. */
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { expect, test } from "vitest";
import { runAction } from "../action/runner.ts";
import { serve } from "../rest/servers.ts";
import { aProject, root, type Project } from "../support/project.ts";
import { addRows } from "../support/tables.ts";
import { allBlocks, at } from "./blocks.ts";

const pipelines = allBlocks().filter(({ page, language }) => page === "docs/ci.md" && language === "yaml");
const action = "./node_modules/lance-migrate";

test.each(pipelines.map((block) => [at(block), block.text]))("%s", async (_, text) => {
  const project = await aProjectInCi();
  const { url } = await serve((response) => response.writeHead(201).end("{}"));
  const { notes, env: gitlab } = await aMergeRequest();
  const env = { GITHUB_API_URL: url, ...gitlab };
  const steps = stepsIn(parse(text));
  expect(steps.length).toBeGreaterThan(3);
  for (const { command, inputs } of steps) {
    const ended =
      inputs === undefined
        ? await runIn(project, command, env)
        : await runAction({
            action: join(project.folder, command),
            workspace: project.folder,
            inputs,
            event: {},
            env,
            token: "",
          });
    expect({ command, inputs, ...ended }).toMatchObject({ isSuccess: true });
  }
  // Without the approved plan, nothing would be applied there.
  const status = await runIn(project, "npx migrate status --target production --json", env);
  expect(JSON.parse(status.log)).toMatchObject({ pending: [] });
  if (text.includes("curl")) expect(notes.map(({ body }) => body)).toEqual([planOf(1)]);
});

const planOf = (count: number) =>
  expect.stringMatching(
    new RegExp(`^<!-- lance-migrate production up -->\n### ${count} migrations? for \`production\`\n[^]*</sub>\n$`),
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
  expect(notes.slice(131)).toEqual([
    { id: 131, author: bot, body: expect.stringContaining("is **refused**: ") as string },
  ]);
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

async function aProjectInCi(): Promise<Project> {
  const project = aProject();
  const targets = `local: { kind: "lance", uri: ".lancedb" }, production: { kind: "lance", uri: "production" }`;
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
