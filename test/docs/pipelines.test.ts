/** The pipelines of docs/ci.md: what their jobs run succeeds, in this order, in a project with a pending migration. */
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { expect, test } from "vitest";
import { runAction } from "../action/runner.ts";
import { serve } from "../rest/servers.ts";
import { aProject, root, type Project } from "../support/project.ts";
import { allBlocks, at } from "./blocks.ts";

const pipelines = allBlocks().filter(({ page, language }) => page === "docs/ci.md" && language === "yaml");
const action = "./node_modules/lance-migrate";

test.each(pipelines.map((block) => [at(block), block.text]))("%s", async (_, text) => {
  const project = await aProjectInCi();
  const { url, seen } = await serve((response) => response.writeHead(201).end("{}"));
  const env = {
    GITHUB_API_URL: url,
    CI_API_V4_URL: url,
    CI_PROJECT_ID: "3",
    CI_MERGE_REQUEST_IID: "7",
    COMMENT_TOKEN: "glpat-0123456789",
  };
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
  if (!text.includes("curl")) return;
  const { path, headers, body } = seen[0]!;
  expect({ path, token: headers["private-token"] }).toEqual({
    path: "/projects/3/merge_requests/7/notes",
    token: "glpat-0123456789",
  });
  expect(new URLSearchParams(body.toString()).get("body")).toMatch(
    /^<!-- lance-migrate production up -->\n### 1 migration for `production`\n[^]*<\/sub>\n$/,
  );
});

interface PipelineStep {
  /** Of a shell, or the folder of the action. */
  readonly command: string;
  readonly inputs?: Readonly<Record<string, string>>;
}

/** The commands (`run` of GitHub, `script` of GitLab) and the uses of our action, at any depth. */
function stepsIn(value: unknown, key = ""): readonly PipelineStep[] {
  if (typeof value === "string")
    return (key === "run" || key === "script") && /\b(migrate|curl) /.test(value) ? [{ command: value }] : [];
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
