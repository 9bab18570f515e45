/** Work that waits while its client goes, or while the service ends. */
import { expect, onTestFinished, test } from "vitest";
import { createApp } from "../../src/features/serve/app.ts";
import { routes } from "../../src/features/serve/routes/index.ts";
import { openDataFolder } from "../../src/features/serve/tables/data-folder.ts";
import type { Job, JobOutcome } from "../../src/features/serve/work/perform.ts";
import { startWorkers } from "../../src/features/serve/work/pool.ts";
import { childrenOf } from "../support/processes.ts";
import { temporaryFolder } from "../support/project.ts";
import { holdOpen, send } from "./raw.ts";
import { apiKey } from "./served.ts";

/** Requests with a key that the service takes from one address. */
const most = 500;

/** An application whose one worker ends each job when it is allowed to. */
async function anApp() {
  const begun: Job[] = [];
  const ends = Promise.withResolvers<JobOutcome>();
  const log: string[] = [];
  const app = await createApp({
    apiKey,
    data: openDataFolder(temporaryFolder()),
    bodyLimit: 1_000_000,
    requestTimeout: 300_000,
    log: (line) => log.push(line),
    workers: {
      places: 1,
      perform: (job) => {
        begun.push(job);
        return ends.promise;
      },
    },
  });
  await app.web.listen({ host: "127.0.0.1", port: 0 });
  onTestFinished(() => app.web.close());
  const { port } = app.web.server.address() as { port: number };
  const url = `http://127.0.0.1:${port}`;
  return {
    app,
    url,
    begun,
    health: async () => (await send(url, { method: "GET", path: "/healthz" })).status,
    gone: () => log.filter((line) => line.includes(" 499 ")).length,
    logged: () => log.length,
    end: () => ends.resolve({ contentType: "application/json", body: { bytes: Buffer.from("{}") } }),
  };
}

const list = `GET /v1/tables HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\n\r\n`;

test("work of clients that went is not begun, and counts until then for those that come after them", async () => {
  const { app, url, begun, health, gone, end } = await anApp();
  const clients = Array.from({ length: most }, () => holdOpen(url, list));
  await expect.poll(health).toBe(503);
  for (const client of clients) client.destroy();
  await expect.poll(gone).toBe(most);
  expect(await health()).toBe(503);
  end();
  await app.settled();
  await expect.poll(health).toBe(200);
  expect(begun).toHaveLength(1);
});

test("a request behind one whose client went is not begun", async () => {
  const { app, url, begun, gone, logged, end } = await anApp();
  const client = holdOpen(url, list.repeat(2));
  await expect.poll(() => begun.length).toBe(1);
  client.destroy();
  await expect.poll(gone).toBeGreaterThan(0);
  end();
  await app.settled();
  expect([begun.length, logged()]).toEqual([1, 1]);
});

test("workers that are ended begin nothing more, and leave no process", async () => {
  const data = openDataFolder(temporaryFolder());
  const before = childrenOf(process.pid);
  const limits = { bodyLimit: 1_000_000, answerLimit: 1_000_000, workTimeout: 600_000, workerMemory: 2 ** 31 };
  const workers = await startWorkers({ data, workers: 1, ...limits });
  const route = routes.findIndex(({ path, method }) => path === "/v1/tables" && method === "GET");
  const job = { route, answerId: "an-answer", path: "/v1/tables", params: {}, query: {} };
  expect(await workers.perform(job, false)).toMatchObject({ contentType: expect.stringMatching(/json/) });
  const closed = workers.close();
  expect(await workers.perform(job, false)).toMatchObject({
    problem: { status: 503, error: expect.stringMatching(/ending/) },
  });
  await closed;
  expect(await workers.perform(job, false)).toMatchObject({
    problem: { status: 503, error: expect.stringMatching(/ending/) },
  });
  await expect.poll(() => childrenOf(process.pid).filter((pid) => !before.includes(pid))).toEqual([]);
});
