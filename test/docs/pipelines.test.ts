/** The pipelines of docs/ci.md: what their jobs run succeeds, in this order, in a project with a pending migration. */
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { expect, test } from "vitest";
import { aProject, root, type Project } from "../support/project.ts";
import { allBlocks, at } from "./blocks.ts";

const pipelines = allBlocks().filter(({ page, language }) => page === "docs/ci.md" && language === "yaml");

test.each(pipelines.map((block) => [at(block), block.text]))("%s", async (_, text) => {
  const project = await aProjectInCi();
  const commands = commandsIn(parse(text)).filter((command) => command.includes("migrate "));
  expect(commands.length).toBeGreaterThan(5);
  for (const command of commands) expect({ command, ...runIn(project, command) }).toMatchObject({ command, status: 0 });
  // Without the approved plan, nothing would be applied there.
  expect(JSON.parse(runIn(project, "npx migrate status --target production --json").stdout)).toMatchObject({
    pending: [],
  });
});

/** The values of `run` (GitHub) and `script` (GitLab), at any depth. */
function commandsIn(value: unknown, key = ""): readonly string[] {
  if (typeof value === "string") return key === "run" || key === "script" ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((item) => commandsIn(item, key));
  return Object.entries(Object(value) as object).flatMap(([name, item]) => commandsIn(item, name));
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

function runIn({ folder }: Project, command: string) {
  const script = command.replaceAll("npx ", "node_modules/.bin/");
  const env = { ...process.env, GITHUB_STEP_SUMMARY: "summary.md" };
  return spawnSync("bash", ["-eo", "pipefail", "-c", script], { cwd: folder, env, encoding: "utf8" });
}
