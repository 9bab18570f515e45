/** What becomes of a command that computes values when the run that has started it is interrupted or killed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { aProject, leaping, root, type Project, onStdout } from "../support/project.ts";
import { addRows } from "../support/tables.ts";

/** Answers after the first calls only when there is no file `hold`. States which process it is, and what signal it got. */
const command = `import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
writeFileSync("pid", String(process.pid));
process.on("SIGINT", () => {
  appendFileSync("signals", "SIGINT");
  process.exit(1);
});
let calls = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const { id, rows } = JSON.parse(line);
  // As a model that computes.
  if (++calls > 2) writeFileSync("held", "");
  if (calls > 2) while (existsSync("hold")) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  console.log(JSON.stringify({ id, values: rows.map(({ n }) => [n, n, n]) }));
}
`;

async function aScene() {
  const project = aProject();
  project.write("embed.mjs", command);
  project.write("hold", "");
  project.migration(
    "0001_docs.ts",
    'm.createTable("docs", { id: m.int32().notNull(), n: m.int32(), embedding: m.vector(2) }),',
  );
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const rows = Array.from({ length: 40 }, (_, id) => ({ id, n: id, embedding: [id, id] }));
  await addRows(project.database, "docs", rows);
  const code = `with: { command: [${JSON.stringify(process.execPath)}, "embed.mjs"] }, version: "1", batch: 4, concurrency: 1`;
  project.migration(
    "0002_model.ts",
    `m.reembedColumn("docs", "embedding", { type: m.vector(3), from: ["n"], key: "id", ${code} }),`,
  );
  return project;
}

/** Starts `prepare` in a process group of its own, as a shell does. Returns once its command holds a call. */
async function startHeld(project: Project) {
  const { folder } = project;
  const child = spawn(process.execPath, [join(root, "dist/bin.js"), "prepare"], { cwd: folder, detached: true });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const ended = new Promise<{ code: number | null; stderr: string }>((resolve) =>
    child.on("close", (code) => resolve({ code, stderr })),
  );
  while (child.exitCode === null && !existsSync(join(folder, "held"))) await sleep(50);
  expect(child.exitCode, stderr).toBe(null);
  const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
  onTestFinished(() => {
    if (isThere(pid)) process.kill(pid, "SIGKILL");
  });
  // The command has the same standard error, so it stays open.
  const exited = once(child, "exit");
  const stopping = async () => {
    while (!stderr.includes("interrupt again")) await sleep(50);
  };
  return { pid, ended, exited, stopping, toGroup: (signal: NodeJS.Signals) => process.kill(-child.pid!, signal) };
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function gone(pid: number): Promise<void> {
  while (isThere(pid)) await sleep(50);
}

async function completes(project: Project): Promise<void> {
  expect(await project.migrate(["prepare"], leaping())).toMatchObject(onStdout(0, "40 rows computed"));
}

test("Ctrl-C reaches the run alone, which ends its command at a safe point", async () => {
  const project = await aScene();
  const { pid, ended, toGroup } = await startHeld(project);
  toGroup("SIGINT");
  await sleep(500);
  rmSync(join(project.folder, "hold"));
  const { code, stderr } = await ended;
  expect(code, stderr).toBe(130);
  expect(stderr).toContain("stopping; the next migrate prepare resumes where this one stopped");
  expect(stderr).not.toMatch(/could not be prepared|it ended with/);
  expect(existsSync(join(project.folder, "signals"))).toBe(false);
  expect(isThere(pid)).toBe(false);
  await completes(project);
});

test("a command does not outlive a run that is stopped at once", async () => {
  const project = await aScene();
  const { pid, ended, stopping, toGroup } = await startHeld(project);
  toGroup("SIGINT");
  await stopping();
  toGroup("SIGINT");
  expect(await ended).toMatchObject({ code: 130 });
  await gone(pid);
  rmSync(join(project.folder, "hold"));
  await completes(project);
});

test("a command ends after its call when its run is killed", async () => {
  const project = await aScene();
  const { pid, exited, toGroup } = await startHeld(project);
  toGroup("SIGKILL");
  await exited;
  rmSync(join(project.folder, "hold"));
  await gone(pid);
  await completes(project);
});
