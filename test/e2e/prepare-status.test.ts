/** What `migrate status` shows of a `migrate prepare` that runs, was stopped or has ended. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { aScene } from "../fault/backfill-scene.ts";
import type { Project } from "../support/project.ts";
import { lancedb, rowsOf } from "../support/tables.ts";

interface Preparing {
  readonly state: string;
  readonly progress: { readonly rows: number; readonly computed: number; readonly perSecond?: number };
}

async function preparing(project: Project): Promise<Preparing | undefined> {
  const { stdout } = await project.migrate(["status", "--json"]);
  return (JSON.parse(stdout) as { pending: { preparing: Preparing[] }[] }).pending[0]?.preparing[0];
}

/** Starts `prepare`, whose code answers no more than this number of calls. Returns once some rows are computed. */
async function startHeld(project: Project, calls: number) {
  project.write("hold", String(calls));
  const running = project.start(["prepare"]);
  while (((await preparing(project))?.progress.computed ?? 0) === 0) await sleep(50);
  return running;
}

const release = ({ folder }: Project) => rmSync(join(folder, "hold"));

test("status tells a prepare that runs from one that was stopped and one that has ended", async () => {
  const { project } = await aScene("lance", 300, { change: "reembed" });
  const running = await startHeld(project, 4);
  expect(await preparing(project)).toMatchObject({
    state: "running",
    phase: "computing",
    by: expect.stringContaining("(process "),
  });
  const shown = (await project.migrate(["status"])).stdout;
  expect(shown).toMatch(
    /docs\.embedding: prepare is running \(computing, last heard of \d+ seconds? ago\), \d+ of 300 rows computed/,
  );
  expect(shown).not.toContain("to continue");
  running.process.kill("SIGINT");
  release(project);
  expect(await running.finished).toMatchObject({ code: 130 });
  const stopped = await preparing(project);
  expect(stopped).toMatchObject({ state: "stopped", at: expect.any(String) });
  expect(stopped!.progress).not.toHaveProperty("perSecond");
  const then = (await project.migrate(["status"])).stdout;
  expect(then).toMatch(
    /prepare stopped while computing \(last progress \d+ seconds? ago\), \d+ of 300 rows computed$/m,
  );
  expect(then).toContain("0002_vectors is prepared in part: to continue, migrate prepare, then migrate up;");
  expect(await project.migrate(["prepare"])).toMatchObject({ code: 0 });
  expect(await preparing(project)).toMatchObject({ state: "ended", progress: { rows: 300, computed: 300 } });
  const last = (await project.migrate(["status"])).stdout;
  expect(last).toMatch(/docs\.embedding: 300 rows computed$/m);
  expect(last).toContain("0002_vectors is prepared: to continue, migrate up; to go back, migrate prepare --discard");
  const docs = await (await lancedb.connect(project.database)).openTable("docs");
  await docs.add([{ id: 900, text: "document 900", embedding: [0, 0] }]);
  expect((await project.migrate(["status"])).stdout).toMatch(
    /docs\.embedding: 300 of 301 rows computed; migrate up computes the rest$/m,
  );
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await rowsOf(project.database, "docs")).toHaveLength(301);
});

test("status shows what an up does that computes a column", async () => {
  const { project } = await aScene("lance", 300, { change: "reembed" });
  project.write("hold", "4");
  const running = project.start(["up"]);
  const shown = async () => (await project.migrate(["status"])).stdout;
  while (!(await shown()).includes("0002 is under way (computing)")) await sleep(50);
  release(project);
  expect(await running.finished).toMatchObject({ code: 0 });
  expect(await shown()).not.toContain("computing");
});

test("after a kill on the same machine, the next prepare does not wait", async () => {
  const { project } = await aScene("lance", 300, { change: "reembed" });
  const running = await startHeld(project, 4);
  running.process.kill("SIGKILL");
  await running.finished;
  release(project);
  expect(await preparing(project)).toMatchObject({ state: "stopped", phase: "computing" });
  const { code, stderr } = await project.migrate(["prepare"]);
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringContaining("has ended without releasing its lease; taking over"),
  });
  expect(stderr).not.toContain("waiting for");
  expect(await preparing(project)).toMatchObject({ state: "ended" });
});
