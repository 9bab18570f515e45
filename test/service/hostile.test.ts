/** Requests that once ended the service, or kept it from answering anybody else: now each costs itself alone. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Column } from "../../src/schema/data-type.ts";
import { toIpcStream } from "../../src/wire/arrow/arrow-schema.ts";
import { lacks } from "../support/needs.ts";
import { temporaryFolder, temporaryFolderOfFile } from "../support/project.ts";
import { childrenOf, processorTime } from "../support/processes.ts";
import { isLong, ofThisCommit } from "../support/rounds.ts";
import { holdOpen, send, sendBytes, type RawAnswer } from "./raw.ts";
import { apiKey, arrow, startCommand } from "./served.ts";

const asJson = { "x-api-key": apiKey, "content-type": "application/json" };
const asArrow = { "x-api-key": apiKey, "content-type": "application/vnd.apache.arrow.stream" };
const rows = arrow.tableToIPC(new arrow.Table({ id: arrow.vectorFromArray([1, 2, 3], new arrow.Int32()) }), "stream");

/**
 * Milliseconds of work of its own process within which the service has to answer others, whatever it is sent. On a machine
 * that does other things too, they take longer than that by the clock.
 */
const slowest = 1_000;
/** Milliseconds by the clock after which it hangs. */
const hangs = 600_000;

const folder = temporaryFolderOfFile();
/** The built command, with its worker processes. */
let service: Awaited<ReturnType<typeof startCommand>>;

beforeAll(async () => {
  // With few files, so that connections that are left open take all of them soon.
  service = await startCommand(folder, ["--worker-memory", "1024"], 400);
  const created = await send(service.url, { path: "/v1/tables/books", headers: asArrow, body: rows });
  expect(created.status, created.body.toString()).toBe(200);
});

afterAll(async () => {
  expect(await service.close()).toBe(0);
  expect(readdirSync(folder)).toEqual(["books.lance"]);
});

const post = (path: string, body: object) => send(service.url, { path, headers: asJson, body: JSON.stringify(body) });

/** Sends it while others ask for the service's health, and checks that the service works as before. */
async function costsOnlyItself(act: () => Promise<RawAnswer>): Promise<RawAnswer> {
  const over = new AbortController();
  const waits: { readonly working: number; readonly waiting: number }[] = [];
  const others = (async () => {
    while (!over.signal.aborted) {
      const [start, worked] = [performance.now(), processorTime(service.pid)];
      expect((await send(service.url, { method: "GET", path: "/healthz" })).status).toBe(200);
      waits.push({ working: processorTime(service.pid) - worked, waiting: performance.now() - start });
      await sleep(20);
    }
  })();
  const answer = await act().finally(() => over.abort());
  await others;
  // What it waits for without work of its own keeps others waiting too, and takes no longer on a machine that is at work.
  const times = waits.map(({ working, waiting }) => (waiting < hangs ? Math.min(working, waiting) : waiting));
  expect(Math.max(...times)).toBeLessThan(slowest);
  expect((await post("/v1/table/books/count_rows", {})).body.toString()).toBe("3");
  return answer;
}

/** Until one of the workers, which `before` says the work of, is in the middle of a request that takes seconds. */
async function atWork(service: number, before: ReadonlyMap<number, number> = new Map()): Promise<void> {
  // The start of a worker takes less.
  const isBusy = () => childrenOf(service).some((pid) => processorTime(pid) - (before.get(pid) ?? 0) > 1_500);
  await expect.poll(isBusy).toBe(true);
}

const long = "1 = 1" + " + 1".repeat(1_000);
const list = (expression: string) => `array_length(${expression}) > 0`;
const identifier = "x".repeat(100_000);

const texts = [
  ["a sum of a thousand terms", long],
  ["a text of a thousand parts", `'a' = 'a'${" || 'b'".repeat(1_000)}`],
  ["a thousand casts", `id = 1${"::bigint".repeat(1_000)}`],
  ["an array of a billion numbers", list("array_repeat(1, 1000000000)")],
  ["an array of a trillion numbers", list("array_repeat(1, 1000000000000)")],
  ["a text of a billion letters", "length(repeat('x', 1000000000)) > 0"],
  ["a text that is padded to two billion letters", "length(rpad('x', 2000000000)) > 0"],
  ["a list of a hundred million numbers for each row", list("range(0, 100000000 + id)")],
  ["a column name of 100 kB", `${identifier} = 1`],
  ["a column name of 100 kB in quotes", `"${identifier}" = 1`],
  ["a thousand parentheses", `${"(".repeat(1_000)}id = 1${")".repeat(1_000)}`],
  ["two megabytes", `id IN (${"1, ".repeat(700_000)}2)`],
] as const;

test.each(ofThisCommit(texts, 6))("%s in a filter, an expression or an update", async (_, sql) => {
  const requests = [
    ["count_rows", { predicate: sql }],
    ["delete", { predicate: `${sql} AND id > 100` }],
    ["update", { predicate: "id > 100", updates: [["id", `CASE WHEN ${sql} THEN 1 ELSE 2 END`]] }],
    ["query", { vector: [], k: 1, filter: sql }],
  ] as const;
  // Each is read in another place, and each text is a danger of its own: for each commit, each meets some of the others.
  const at = texts.findIndex(([, text]) => text === sql);
  for (const [path, body] of isLong ? requests : [requests[at % requests.length]!]) {
    const { status, body: answer } = await costsOnlyItself(() => post(`/v1/table/books/${path}`, body));
    // Some of it the engine can do: nothing is wrong with a count.
    if (status !== 200)
      expect(JSON.parse(answer.toString())).toMatchObject({ error: expect.stringMatching(/^.{1,600}$/) });
  }
});

test("a hundred thousand letters as a tag, an index or a column", async () => {
  for (const [path, body] of [
    ["tags/create", { tag: identifier, version: 1 }],
    ["tags/version", { tag: identifier }],
    ["count_rows", { tag: identifier }],
    ["create_index", { column: identifier, index_type: "BTREE" }],
    ["drop_columns", { columns: [identifier] }],
    ["alter_columns", { alterations: [{ path: identifier, rename: "y" }] }],
    ["alter_columns", { alterations: [{ path: "id", rename: identifier }] }],
    ["update", { updates: [[identifier, "1"]] }],
  ] as const) {
    const { status, body: answer } = await costsOnlyItself(() => post(`/v1/table/books/${path}`, body));
    expect([path, status], answer.toString()).toEqual([path, expect.toSatisfy((code: number) => code >= 400)]);
  }
});

test("tables of 19,000 columns", async () => {
  const columns = Array.from({ length: 19_000 }, (_, place): Column => {
    return { name: `c${place}`, type: { kind: "int32" }, nullable: true };
  });
  const wide = { path: "/v1/tables/wide", headers: asArrow, body: toIpcStream(columns) };
  expect(await costsOnlyItself(() => send(service.url, wide))).toMatchObject({ status: 200 });
  const twice = { ...wide, path: "/v1/tables/twice", body: toIpcStream([...columns, columns[0]!]) };
  expect(await costsOnlyItself(() => send(service.url, twice))).toMatchObject({ status: 400 });
  expect((await post("/v1/table/wide/drop", {})).status).toBe(200);
});

test("a request whose worker is killed is answered, and others are not disturbed", async () => {
  const before = await post("/v1/table/books/count_rows", { predicate: "id > 1" });
  const { status, body } = await costsOnlyItself(() =>
    post("/v1/table/books/count_rows", { predicate: list("array_repeat(1, 1000000000000)") }),
  );
  expect([status, body.toString()]).toEqual([500, expect.stringMatching(/process that worked on this request ended/)]);
  expect(service.log.join("")).toMatch(/ 500 \d+ms \S+ the worker ended with SIG/);
  expect((await post("/v1/table/books/count_rows", { predicate: "id > 1" })).body).toEqual(before.body);
});

test("work whose worker is killed is not done by another one, since it may have changed something", async () => {
  // It takes minutes, and no row is that far from anything.
  const predicate = "levenshtein(repeat('a', 150000), repeat('b', 150000)) < 0";
  const before = new Map(childrenOf(service.pid).map((pid) => [pid, processorTime(pid)]));
  const given = post("/v1/table/books/delete", { predicate });
  await atWork(service.pid, before);
  for (const pid of childrenOf(service.pid)) process.kill(pid, "SIGKILL");
  const { status, body } = await given;
  expect([status, body.toString()]).toEqual([520, expect.stringMatching(/whether it changed anything is unknown/)]);
});

test("the arguments of workers, which everybody on the machine can read, do not contain the key", () => {
  const read = childrenOf(service.pid).map((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8"));
  expect(read.length).toBeGreaterThan(0);
  expect(read.join("\n")).not.toContain(apiKey);
});

/** Each keeps a processor at work for seconds, and ends in the same code: for each commit one of them. */
const cutOff = [
  [
    "work that takes longer than it may is given up once its process has ended, so that it changes nothing later",
    givesUp,
  ],
  ["on SIGTERM, work that takes longer than eight seconds is cut off, and does not go on without the service", stops],
] as const;

test.each(ofThisCommit(cutOff, 2))("%s", async (_, holds) => holds());

async function givesUp(): Promise<void> {
  const impatient = await startCommand(folder, ["--work-timeout", "6"]);
  const ask = (path: string, body: object) =>
    send(impatient.url, { path: `/v1/table/books/${path}`, headers: asJson, body: JSON.stringify(body) });
  const slow = "levenshtein(repeat('a', 900000), repeat('b', 900000)) > 0";
  // The starts of two workers are no part of that time.
  const counts = async () => await Promise.all([1, 2].map(() => ask("count_rows", { predicate: long })));
  await expect.poll(async () => (await counts()) && childrenOf(impatient.pid).length).toBe(2);
  const before = childrenOf(impatient.pid);
  const given = ask("delete", { predicate: slow });
  const { status, body } = await given;
  const after = childrenOf(impatient.pid);
  expect(before.filter((pid) => after.includes(pid))).toHaveLength(1);
  expect([status, body.toString()]).toEqual([
    520,
    expect.stringMatching(/given up after 6 seconds; whether it changed anything is unknown/),
  ]);
  expect((await ask("count_rows", {})).body.toString()).toBe("3");
  expect(await impatient.close()).toBe(0);
}

async function stops(): Promise<void> {
  const stopped = await startCommand(folder, []);
  // It takes minutes, and no row is that far from anything.
  const predicate = "levenshtein(repeat('a', 150000), repeat('b', 150000)) < 0";
  const body = JSON.stringify({ predicate });
  const cut = send(stopped.url, { path: "/v1/table/books/delete", headers: asJson, body }).catch((error) => error);
  await atWork(stopped.pid);
  const workers = childrenOf(stopped.pid);
  const start = performance.now();
  expect(await stopped.close()).toBe(0);
  expect(performance.now() - start).toBeGreaterThan(7_000);
  expect(await cut).toMatchObject({ code: "ECONNRESET" });
  expect(workers.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
  expect(stopped.log.join("")).toMatch(
    /^stopping: waiting up to 8 seconds for requests in progress, then cutting them off; interrupt again to stop at once$/m,
  );
}

test("what the engine prints when it panics is not taken for the process that works", async () => {
  const impatient = await startCommand(folder, ["--work-timeout", "4"]);
  // On a busy machine, a worker may not even have started within that time.
  const ask = async (path: string, body: object): Promise<RawAnswer> => {
    const answer = await send(impatient.url, {
      path: `/v1/table/books/${path}`,
      headers: asJson,
      body: JSON.stringify(body),
    });
    return answer.body.includes("given up") ? await ask(path, body) : answer;
  };
  expect((await ask("delete", { predicate: "id = $1" })).status).toBe(400);
  const workers = childrenOf(impatient.pid);
  // Nothing is at work any more, so nothing is given up.
  await sleep(5_000);
  expect(childrenOf(impatient.pid)).toEqual(workers);
  expect((await ask("count_rows", {})).body.toString()).toBe("3");
  expect(await impatient.close()).toBe(0);
});

test("a worker that dies while it is idle costs no request", async () => {
  expect((await post("/v1/table/books/count_rows", {})).status).toBe(200);
  for (const pid of childrenOf(service.pid)) process.kill(pid, "SIGKILL");
  await expect.poll(() => childrenOf(service.pid)).toEqual([]);
  for (let turn = 0; turn < 5; turn++) expect((await post("/v1/table/books/count_rows", {})).status).toBe(200);
});

// Every night: it takes as long as half of the others, and each commit's inserts go the same way.
test.skipIf(lacks("long"))("a thousand small commits do not fill a worker's memory", async () => {
  const data = temporaryFolder();
  const small = await startCommand(data, ["--workers", "1", "--worker-memory", "1024"]);
  try {
    await send(small.url, { path: "/v1/tables/small", headers: asArrow, body: rows });
    const insert = { path: "/v1/table/small/insert", headers: asArrow, body: rows };
    for (let commit = 0; commit < 1_000; commit++) {
      const { status, body } = await send(small.url, insert);
      expect(status, `commit ${commit}: ${body.toString()}`).toBe(200);
    }
  } finally {
    await small.close();
  }
});

test("a list of 130,000 numbers in SQL is no chain of operators", async () => {
  const { status } = await post("/v1/table/books/count_rows", { predicate: `id IN (${"1,".repeat(130_000)}2)` });
  expect(status).toBe(200);
});

test("a rename with megabytes of JSON does not keep others waiting", async () => {
  const body = { new_table_name: "other", x: Array.from({ length: 2_000_000 }, () => ({})) };
  expect((await costsOnlyItself(() => post("/v1/table/books/rename", body))).status).toBe(413);
});

test("clients that do not wait for their answers do not use up the number of requests", async () => {
  const { hostname, port } = new URL(service.url);
  const head = `POST /v1/table/books/count_rows HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\ncontent-type: application/json\r\n`;
  const left = () => service.log.join("").match(/ 499 /g)?.length ?? 0;
  // More than the service takes at a time. Where it is slow to read them, they wait longer.
  for (let turn = 0; turn < 11 || left() <= 100; turn++) {
    const hasty = Array.from({ length: 100 }, () => connect(Number(port), hostname).on("error", () => {}));
    await Promise.all(hasty.map((socket) => once(socket, "connect")));
    // A half-sent body, or a whole one.
    for (const [place, socket] of hasty.entries())
      socket.write(place % 2 === 0 ? `${head}content-length: 9\r\n\r\n{` : `${head}content-length: 2\r\n\r\n{}`);
    await sleep(20 * (turn + 1));
    for (const socket of hasty) socket.resetAndDestroy();
  }
  expect((await post("/v1/table/books/count_rows", {})).body.toString()).toBe("3");
});

test("a first line of 64,000 letters without an end does not keep others waiting", async () => {
  const answer = await costsOnlyItself(() => sendBytes(service.url, `GET /${"x".repeat(64_000)}`));
  expect(answer.status).toBe(431);
});

test("612 connections that send half a request do not keep others out", async () => {
  const half = Array.from({ length: 612 }, () =>
    holdOpen(service.url, "POST /v1/table/books/count_rows HTTP/1.1\r\nx:"),
  );
  try {
    await sleep(500);
    await costsOnlyItself(() => post("/v1/table/books/count_rows", {}));
  } finally {
    for (const socket of half) socket.destroy();
  }
});

test("a proxy may hold half of all connections, and the log reports once how many were refused", async () => {
  const own = await startCommand(folder, ["--quiet"], 4_256);
  const held: ReturnType<typeof holdOpen>[] = [];
  try {
    // Some at a time: one whose request the service does not read within a second counts as silent.
    for (let portion = 0; portion < 21; portion++) {
      const some = Array.from({ length: 100 }, () => holdOpen(own.url, "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n"));
      held.push(...some);
      await Promise.all(
        some.map((socket) => new Promise((resolve) => void socket.once("data", resolve).once("close", resolve))),
      );
    }
    await expect.poll(() => held.filter(({ destroyed }) => destroyed).length).toBe(2_100 - 2_048);
    // From another address, so that it is not refused too.
    const other = holdOpen(own.url, "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n", "127.0.0.2");
    held.push(other);
    const [answer] = (await once(other, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 200 /);
    expect(held.filter(({ bytesRead, destroyed }) => bytesRead > 0 && !destroyed)).toHaveLength(2_049);
    const lines = () => own.log.join("").trimEnd().split("\n");
    // Which limit a connection exceeds depends on how many requests the service has read when it comes.
    const reason = "\\d+ beyond (2048|256) of one address( that send no request)? \\(127\\.0\\.0\\.1\\)";
    const line = new RegExp(`^\\S+Z refused connections: ${reason}(; ${reason})?$`);
    await expect.poll(lines).toEqual([expect.stringMatching(line)]);
    const counts = [...lines()[0]!.matchAll(/(\d+) beyond/g)].map(([, count]) => Number(count));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(52);
  } finally {
    for (const socket of held) socket.destroy();
  }
  expect(await own.close()).toBe(0);
});

test("of connections that send nothing, the oldest of an address are closed after a second if most of all are taken", async () => {
  const [one, other] = ["127.0.0.1", "127.0.0.2"].map((address) =>
    Array.from({ length: 100 }, () => holdOpen(service.url, "", address).resume()),
  );
  const silent = [...one!, ...other!];
  try {
    await Promise.all(silent.map((socket) => once(socket, "connect")));
    // With 400 files, there are 240 connections, and 180 of them may wait.
    const open = () => silent.filter(({ destroyed }) => !destroyed).length;
    await expect.poll(open).toBe(180);
    await sleep(1_000);
    for (const sockets of [one!, other!])
      expect(sockets.map(({ destroyed }) => destroyed).lastIndexOf(true)).toBeLessThan(40);
    expect(open()).toBe(180);
  } finally {
    for (const socket of silent) socket.destroy();
  }
});

test("connections that send nothing do not keep others out either", async () => {
  const silent = Array.from({ length: 1_000 }, () => holdOpen(service.url, ""));
  try {
    await sleep(500);
    await costsOnlyItself(() => post("/v1/table/books/count_rows", {}));
  } finally {
    for (const socket of silent) socket.destroy();
  }
});

// Each address may have half of the connections, so the six addresses together take all of them.
test("connections that take all files that the service may open do not end it", async () => {
  const held = Array.from({ length: 600 }, (_, i) =>
    holdOpen(service.url, "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n", `127.0.0.${2 + (i % 6)}`).resume(),
  );
  try {
    await sleep(500);
    // The next request needs a new worker, which needs files.
    for (const pid of childrenOf(service.pid)) process.kill(pid, "SIGKILL");
    await expect.poll(() => childrenOf(service.pid)).toEqual([]);
    const own = held.find((socket) => socket.bytesRead > 0 && !socket.destroyed)!;
    const body = "POST /v1/table/books/count_rows HTTP/1.1\r\nhost: x\r\n";
    own.write(`${body}x-api-key: ${apiKey}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`);
    const [answer] = (await once(own, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 200 /);
  } finally {
    for (const socket of held) socket.destroy();
  }
  await expect.poll(async () => (await post("/v1/table/books/count_rows", {})).body.toString()).toBe("3");
});

test("a panic of the engine does not get into the service's log", async () => {
  const answer = await post("/v1/table/books/delete", { predicate: "id = $1" });
  expect(answer.status, answer.body.toString()).toBe(400);
  expect(service.log.join("")).not.toMatch(/panicked|not yet implemented|stack backtrace/);
});
