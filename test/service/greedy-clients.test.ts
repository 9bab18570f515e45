/** Clients that send without reading, or send slowly, keep nobody else waiting. */
import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createTraffic } from "../../src/features/serve/traffic.ts";
import { createTurns } from "../../src/features/serve/work/turns.ts";
import { send } from "./raw.ts";
import { aService, apiKey, arrow } from "./served.ts";

const rows = arrow.tableToIPC(new arrow.Table({ id: arrow.vectorFromArray([1, 2, 3], new arrow.Int32()) }), "stream");
const headers = { "x-api-key": apiKey, "content-type": "application/json" };

async function aServiceWithRows() {
  const { service, log } = await aService();
  const asArrow = { ...headers, "content-type": "application/vnd.apache.arrow.stream" };
  const created = await send(service.url, { path: "/v1/tables/books", headers: asArrow, body: rows });
  expect(created.status).toBe(200);
  return { service, log };
}

const count = (url: string) => send(url, { path: "/v1/table/books/count_rows", headers, body: "{}" });
const health = (url: string) => send(url, { method: "GET", path: "/healthz" });

/** A connection that sends what it is given, and reads nothing. */
async function unread(port: number, text: string): Promise<Socket> {
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  socket.pause().write(text);
  return socket;
}

/** A client that does not read learns of the end only when it does. */
const isClosed = (socket: Socket) => socket.resume().closed;

const request = (lines: readonly string[] = []) =>
  ["GET /v1/tables HTTP/1.1", "host: a", ...lines, "", ""].join("\r\n");

test.each([
  ["without a key", request()],
  ["with a key", request([`x-api-key: ${apiKey}`])],
])("pipelined requests %s whose answers nobody reads end their connection alone", async (_, text) => {
  const { service, log } = await aServiceWithRows();
  const sockets = await Promise.all(Array.from({ length: 5 }, () => unread(service.port, text.repeat(5_000))));
  expect((await count(service.url)).body.toString()).toBe("3");
  expect((await health(service.url)).status).toBe(200);
  await expect.poll(() => sockets.every(isClosed)).toBe(true);
  await expect
    .poll(() => log.join("\n"))
    .toMatch(/beyond 16 requests of one connection that have no answer \(127\.0\.0\.1\)/);
});

test("of what has arrived on a connection that is ended, no more requests are made", async () => {
  const traffic = createTraffic(() => {});
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    traffic.admit(request, response, () => {});
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const socket = await unread((server.address() as AddressInfo).port, request().repeat(5_000));
  await expect.poll(() => isClosed(socket)).toBe(true);
  expect(requests).toBe(17);
});

test("a few pipelined requests are all answered, in their order", async () => {
  const { service } = await aServiceWithRows();
  const socket = connect(service.port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  const ids = Array.from({ length: 12 }, (_, index) => `id-${index}`);
  socket.write(ids.map((id) => request([`x-api-key: ${apiKey}`, `x-request-id: ${id}`])).join(""));
  let text = "";
  socket.on("data", (chunk) => (text += String(chunk)));
  await expect.poll(() => [...text.matchAll(/x-request-id: (\S+)/g)].map(([, id]) => id)).toEqual(ids);
});

test("a client that reads nothing of a large answer is closed, and what it held is free again", async () => {
  const { service, log } = await aService();
  const asArrow = { ...headers, "content-type": "application/vnd.apache.arrow.stream" };
  const text = arrow.vectorFromArray(
    Array.from({ length: 200 }, (_, index) => String(index).repeat(50_000)),
    new arrow.Utf8(),
  );
  const large = arrow.tableToIPC(new arrow.Table({ text }), "stream");
  expect((await send(service.url, { path: "/v1/tables/books", headers: asArrow, body: large })).status).toBe(200);
  const body = JSON.stringify({ vector: [], k: 200 });
  const head = [
    "POST /v1/table/books/query HTTP/1.1",
    "host: a",
    `x-api-key: ${apiKey}`,
    "content-type: application/json",
  ];
  const socket = await unread(service.port, [...head, `content-length: ${body.length}`, "", body].join("\r\n"));
  // It takes some at the beginning, and then nothing; and has its time, however old the process is.
  const started = performance.now();
  await expect.poll(() => log.join("\n")).toMatch(/1 beyond 30 seconds in which a client reads nothing/);
  await expect.poll(() => isClosed(socket)).toBe(true);
  expect(performance.now() - started).toBeGreaterThan(20_000);
});

test("clients take turns: one with many requests delays itself", async () => {
  const inTurn = createTurns(2);
  const done: string[] = [];
  const work = (name: string) => async () => {
    await sleep(1);
    done.push(name);
  };
  await Promise.all([
    ...Array.from({ length: 20 }, (_, index) => inTurn("many", work(`many ${index}`))),
    inTurn("one", work("one")),
    inTurn("two", work("two")),
  ]);
  expect(done.indexOf("one")).toBeLessThan(5);
  expect(done.indexOf("two")).toBeLessThan(5);
  expect(done.filter((name) => name.startsWith("many"))).toEqual(
    Array.from({ length: 20 }, (_, index) => `many ${index}`),
  );
});

test("work that fails leaves its place to the next", async () => {
  const inTurn = createTurns(1);
  const failing = inTurn("one", () => Promise.reject(new Error("no")));
  await expect(failing).rejects.toThrow("no");
  expect(await inTurn("two", async () => "done")).toBe("done");
});
