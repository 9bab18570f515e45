/** Runs that compute a column are killed, while applications add, change and delete rows. */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startNode, type Project, type Running } from "../support/project.ts";
import { rounds } from "../support/rounds.ts";
import { apiKey } from "../support/service.ts";
import { aScene, batch, concurrency, paidFor, wrong, type Said, type Scene } from "./backfill-scene.ts";

const kills = rounds(4, 50);
const documents = rounds(1_500, 20_000);
const writer = fileURLToPath(new URL("document-writer.ts", import.meta.url));

async function startWriter({ project, database }: Scene, first: number): Promise<Running> {
  const running = startNode([writer, database, String(first)], project.folder, { MIGRATE_API_KEY: apiKey });
  await new Promise<void>((resolve) => running.process.stdout!.once("data", () => resolve()));
  return running;
}

async function ended(running: Running): Promise<Said> {
  running.process.stdin!.write("end\n");
  const { stdout, stderr, code: exit } = await running.finished;
  expect(exit, stderr).toBe(0);
  return JSON.parse(stdout.trim().split("\n").at(-1)!) as Said;
}

/** Until more is computed, the run is over, or five seconds have passed: it may have nothing left but to wait for writers. */
async function computing({ process }: Running, project: Project, before: number): Promise<void> {
  for (let wait = 0; wait < 500; wait++) {
    if (process.exitCode !== null || paidFor(project).length > before) return;
    await sleep(10);
  }
}

test.each(["lance", "namespace"] as const)(
  `a run that computes a column is killed at ${kills} random moments beside writers: each value is of its row's text, no write is lost, and little is computed twice, on %s`,
  async (way) => {
    const scene = await aScene(way, documents);
    const { project } = scene;
    const writers = await Promise.all([1_000_000, 2_000_000].map((first) => startWriter(scene, first)));
    let killed = 0;
    for (let time = 0; time < kills; time++) {
      const before = paidFor(project).length;
      const running = project.start(["up", "--lease", "1"]);
      // It first waits for the lease of the run before, and merges what that has computed. Every other one is killed later.
      const isLater = time % 2 === 0;
      if (isLater) await computing(running, project, before);
      await sleep(Math.random() * (isLater ? 800 : 2_500));
      running.process.kill("SIGKILL");
      await running.finished;
      if (running.process.signalCode === "SIGKILL") killed++;
    }
    const said = await Promise.all(writers.map(ended));
    const last = await project.migrate(["up", "--lease", "1"]);
    expect(last, last.stderr).toMatchObject({ code: 0 });
    expect(await wrong(project, said)).toEqual([]);
    const computed = paidFor(project);
    const twice = computed.length - new Set(computed).size;
    console.log(
      `${way}: ${killed} killed, ${computed.length} computed, ${twice} of them again; ${JSON.stringify(said.map(({ counts }) => counts))}`,
    );
    expect(killed).toBeGreaterThan(0);
    // For each call that may be made at a time, one may be under way, and the results of another one may be on their way.
    expect(twice).toBeLessThanOrEqual(killed * 2 * batch * concurrency);
  },
  900_000,
);
