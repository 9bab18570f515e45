/** A service that loses answers or is killed, while a run computes a column through it. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { drawnChance } from "../support/kill-moments.ts";
import { freePort } from "../support/ports.ts";
import { aProxy } from "../support/proxy.ts";
import { rounds } from "../support/rounds.ts";
import { serveProcess } from "../support/serve.ts";
import { lancedb } from "../support/tables.ts";
import { aScene, paidFor, wrong } from "./backfill-scene.ts";

const documents = 600;

test("a run whose writes get no answer computes each row once, and leaves nothing behind", async () => {
  const seen = new Map<string, number>();
  const { project } = await aScene("namespace", documents, {
    serve: async (data) => {
      const proxy = await aProxy((await serveProcess(data)).url);
      proxy.fate = (_, path) => {
        const write = /\/(docs\/merge_insert|_migrations\.computed-\w+\/(insert|create|drop))\//.exec(path)?.[0];
        if (write === undefined) return "passes";
        const times = (seen.get(write) ?? 0) + 1;
        seen.set(write, times);
        return times === 1 ? "lost" : times === 2 ? "unsent" : "passes";
      };
      return proxy.url;
    },
  });
  const up = await project.migrate(["up"]);
  expect(up, up.stderr).toMatchObject({ code: 0 });
  expect(await wrong(project)).toEqual([]);
  expect(paidFor(project)).toHaveLength(documents);
  expect([seen.size, Math.min(...seen.values()) >= 2]).toEqual([4, true]);
  const db = await lancedb.connect(project.database);
  expect((await db.tableNames()).toSorted()).toEqual(["_migrations", "docs"]);
});

test("a run that computes a column continues when its service is killed and started again, and computes each row once", async () => {
  const port = await freePort();
  const start = (data: string) => serveProcess(data, [], port);
  let service: Awaited<ReturnType<typeof start>> | undefined;
  const { project } = await aScene("namespace", documents, {
    serve: async (data) => (service = await start(data)).url,
  });
  // Fewer than there are calls to make, so that the run has not ended when its service is killed first.
  project.write("hold", "20");
  const running = project.start(["up"]);
  let isOver = false;
  void running.finished.then(() => (isOver = true));
  const { chance } = drawnChance();
  let killed = 0;
  for (let time = 0; time < rounds(2, 10); time++) {
    const before = paidFor(project).length;
    await expect.poll(() => isOver || paidFor(project).length > before, { interval: 5 }).toBe(true);
    await sleep(chance.next() * 300);
    if (isOver) break;
    service!.process.kill("SIGKILL");
    await service!.finished;
    killed++;
    service = await start(project.database);
    rmSync(join(project.folder, "hold"), { force: true });
  }
  const { code, stderr } = await running.finished;
  expect(code, stderr).toBe(0);
  expect(killed).toBeGreaterThan(0);
  expect(await wrong(project)).toEqual([]);
  expect(paidFor(project)).toHaveLength(documents);
});
