/** Whatever a service answers, or whether it does: a clear error, never the key in it, and no change sent twice. */
import { createSecureServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { tableFromIPC } from "apache-arrow";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { isMigrateError, type ErrorCode } from "../../src/errors/migrate-error.ts";
import type { Action } from "../../src/actions/model/action.ts";
import type { Column } from "../../src/schema/data-type.ts";
import { open } from "../../src/features/rest/rest.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import { rowsToIpc } from "../../src/wire/rows/write-rows.ts";
import { answered, answers, bytes, html, json, quick, text, unreachable, type Bad } from "./bad-answers.ts";
import {
  anAuthority,
  echo,
  key,
  keysIn,
  serve,
  serveProxy,
  serveSockets,
  textsIn,
  type Answering,
  type Seen,
} from "./servers.ts";
import { largeSchema } from "../support/large-schema.ts";
import { freePort } from "../support/ports.ts";

vi.setConfig({ maxConcurrency: 8 });

const opened: Target[] = [];
afterAll(async () => {
  // A target that can't be closed has its own test, and shall not hold up the others.
  await Promise.race([Promise.all(opened.map((target) => target.close())), sleep(5_000)]);
});

async function targetAt(endpoint: string, given: object = {}): Promise<Target> {
  const target = await open(
    { kind: "rest", endpoint, apiKey: key, ...given },
    {
      name: "cloud",
      folder: "/",
    },
  );
  opened.push(target);
  return target;
}

const int64: Column = { name: "id", type: { kind: "int64" }, nullable: false };
const create: Action = { kind: "createTable", table: "documents", columns: [int64] };
const alter: Action = {
  kind: "alterColumns",
  table: "documents",
  alterations: [{ path: "title", rename: "headline" }],
};

/** What is thrown, seen from every side. */
async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

function expectClear(error: unknown, codes: readonly ErrorCode[], says: RegExp): void {
  if (!isMigrateError(error)) throw new Error("is no MigrateError", { cause: error });
  expect(codes).toContain(error.code);
  expect(error.outcome).toBe("unreachable");
  expect(error.message).toMatch(/^target cloud (can't be reached: |answered |refuses the credentials )/);
  expect(error.message).toMatch(says);
  expect(error.message).not.toMatch(/\n|undefined|\[object|NaN|: *;|: *$/);
  expect(error.message.length).toBeLessThan(800);
  expect(textsIn(error).flatMap(keysIn)).toEqual([]);
}

/** Three requests, each at a server of its own. */
const asked: readonly (readonly ["list" | "create" | "alter", string, (target: Target) => Promise<unknown>])[] = [
  ["list", "GET /v1/tables", (target) => target.listTables()],
  ["create", "POST /v1/tables/documents", (target) => target.execute(create, undefined)],
  ["alter", "POST /v1/table/documents/alter_columns", (target) => target.execute(alter, undefined)],
];

async function expectClearlyRefused({ answer, code, says, verdict, reads, taken = [], given }: Bad): Promise<void> {
  for (const [name, request, work] of asked) {
    const { url, seen } = await serve(answer);
    const target = await targetAt(url, given);
    if (name !== "list" && taken.includes(name)) await work(target);
    else {
      const error = await thrownBy(work(target));
      expectClear(error, [code], says);
      if (name !== "list") expect(target.verdict(error).kind).toBe(verdict);
      expect(keysIn(target.explain(error))).toEqual([]);
    }
    const sent = name === "list" ? reads : 1;
    // On a busy machine, the time of a short limit may be over before the request is at the server.
    if (given === undefined) expect(seen).toHaveLength(sent);
    else expect(seen.length).toBeLessThanOrEqual(sent);
    expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual(seen.map(() => request));
    // A request that is sent again is the same one to whoever reads the logs.
    expect(new Set(seen.map(({ headers }) => headers["x-request-id"])).size).toBeLessThanOrEqual(1);
  }
}

describe.concurrent("at a read, a create and an alter", () => {
  test.each(answers)("$title is a clear error, and a change is sent once", expectClearlyRefused);
});

describe.concurrent("in the place of an answer", () => {
  test.each(bytes)("%s is a clear error, and a change is sent once", async (_, bytes, says) => {
    for (const [name, , work] of asked) {
      const { url, seen } = await serveSockets((socket) => socket.end(bytes));
      const target = await targetAt(url);
      const error = await thrownBy(work(target));
      expectClear(error, [unreachable], says);
      expect(target.verdict(error).kind).toBe("unanswered");
      expect(seen.length).toBeLessThanOrEqual(name === "list" ? 4 : 1);
    }
  });

  test("more than 32 MiB is a clear error", async () => {
    const { url } = await serve((response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const block = " ".repeat(1 << 20);
      const more = () => {
        while (!response.destroyed && response.write(block)) if (response.destroyed) return;
        response.once("drain", more);
      };
      more();
    });
    expectClear(await thrownBy((await targetAt(url)).listTables()), ["ERR_ANSWER"], /its answer is larger than 32 MiB/);
  });

  const million = 2 ** 20;
  test.each([
    ["brackets without end", "[".repeat(12 * million), /its answer is nested deeper than 256 levels/],
    ["sixty million brackets", "[".repeat(60 * million), /its answer is larger than 32 MiB/],
    ["empty lists", `[${"[],".repeat(5 * million)}0]`, /its answer holds more than 2,000,000 values/],
    ["names without end", `["a${`","a`.repeat(3 * million)}"]`, /its answer holds more than 2,000,000 values/],
  ])("%s cost little", async (_, body, says) => {
    for (const status of [200, 500]) {
      const { url } = await serve(text(status, body, "application/json"));
      const before = process.cpuUsage();
      expectClear(await thrownBy((await targetAt(url)).listTables()), [answered], status === 200 ? says : /with 500: /);
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1e6).toBeLessThan(10);
    }
  });

  test("the beginning of one, by a wrong length, is none", async () => {
    const body = '["a","b"]';
    const { url } = await serveSockets((socket) =>
      socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length - 3}\r\n\r\n${body}`),
    );
    expectClear(
      await thrownBy((await targetAt(url)).listTables()),
      [answered, unreachable],
      /that is no list|cut|HTTP/,
    );
  });
});

describe.concurrent("where nothing is", () => {
  test.each<readonly [string, () => Promise<string>, object, RegExp]>([
    [
      "a port",
      async () => `http://127.0.0.1:${await freePort()}`,
      {},
      /nothing listens at 127\.0\.0\.1:\d+; check endpoint/,
    ],
    [
      "a port of both kinds",
      async () => `http://localhost:${await freePort()}`,
      {},
      /nothing listens at localhost:\d+/,
    ],
    [
      "a name",
      async () => "http://no-such-host.invalid",
      {},
      /there is no host named no-such-host\.invalid; check endpoint/,
    ],
  ])("%s is a clear error for reads and changes", async (_, at, given, says) => {
    const target = await targetAt(await at(), given);
    for (const [, , work] of asked) {
      const error = await thrownBy(work(target));
      expectClear(error, [unreachable], says);
      expect(target.verdict(error).kind).toBe("unanswered");
    }
  });
});

const good: Answering = (response, { method }) =>
  response.writeHead(200, { "content-type": "application/json" }).end(method === "GET" ? '["documents"]' : "{}");

describe.concurrent("a read", () => {
  test.each<readonly [string, Answering, object]>([
    ["503", text(503, "busy"), {}],
    ["502", text(502, "busy"), {}],
    ["504", text(504, "busy"), {}],
    ["429", text(429, "busy"), {}],
    ["a cut connection", (response) => response.destroy(), {}],
    ["nothing in time", () => {}, { answerSeconds: 5 }],
  ])("is sent again after %s, as the same request", async (_, bad, given) => {
    const { url, seen } = await serve((response, request, turn) => (turn < 3 ? bad : good)(response, request, turn));
    const target = await targetAt(url, given);
    expect(await target.listTables()).toEqual(["documents"]);
    expect(seen).toHaveLength(3);
    expect(new Set(seen.map(({ headers }) => headers["x-request-id"])).size).toBe(1);
  });

  test("waits as long as Retry-After asks for", async () => {
    const times: number[] = [];
    const { url } = await serve((response, request, turn) => {
      times.push(performance.now());
      if (turn === 1) response.writeHead(503, { "retry-after": "2" }).end();
      else good(response, request, turn);
    });
    expect(await (await targetAt(url)).listTables()).toEqual(["documents"]);
    expect(times[1]! - times[0]!).toBeGreaterThan(1_900);
  });

  test("waits at least twice as long each time", async () => {
    const times: number[] = [];
    const { url } = await serve((response) => {
      times.push(performance.now());
      response.writeHead(503).end();
    });
    await thrownBy((await targetAt(url)).listTables());
    const pauses = times.slice(1).map((time, index) => time - times[index]!);
    // It takes longer if the machine is busy, and is varied by a quarter. A timer may fire a millisecond early.
    expect(pauses.map((pause, index) => pause > 0.75 * 300 * 2 ** index - 5)).toEqual([true, true, true]);
  });
});

describe.concurrent("a change", () => {
  // A connection that was idle and is closed at the moment of the request looks like one that was cut after it.
  test("over a connection that the service has just closed is sent at most once", async () => {
    const { url, seen } = await serve((response, request, turn) => {
      good(response, request, turn);
      response.on("finish", () => response.socket?.destroy());
    });
    const target = await targetAt(url);
    for (let round = 0; round < 20; round++) {
      await target.listTables();
      const before = seen.filter(({ method }) => method === "POST").length;
      const outcome = await target.execute(alter, undefined).then(
        () => "done",
        (error: unknown) => target.verdict(error).kind,
      );
      const sent = seen.filter(({ method }) => method === "POST").length - before;
      expect(["done 1", "unanswered 0", "unanswered 1"]).toContain(`${outcome} ${sent}`);
    }
  });

  test.each<readonly [string, (stream: ServerHttp2Stream) => void]>([
    ["refused", (stream) => stream.close(7)],
    ["reset", (stream) => stream.close(2)],
    ["cut with the session", (stream) => stream.session?.destroy()],
    ["said good-bye to", (stream) => stream.session?.goaway(0, 0)],
  ])("over HTTP/2 that is %s after it arrived is sent once", async (_, end) => {
    const authority = anAuthority();
    const paths: string[] = [];
    const server = createSecureServer({ ...authority.sign("IP:127.0.0.1"), allowHTTP1: true });
    server.on("stream", (stream, headers) => {
      paths.push(`${headers[":method"]} ${headers[":path"]}`);
      stream.on("error", () => {});
      stream.on("data", () => {});
      stream.on("end", () => end(stream));
    });
    server.on("request", (request, response) => {
      if (request.httpVersionMajor > 1) return;
      paths.push(`${request.method} ${request.url}`);
      response.destroy();
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    const target = await targetAt(`https://127.0.0.1:${port}`, { ca: authority.file, answerSeconds: 10 });
    const error = await thrownBy(target.execute(alter, undefined));
    expectClear(error, [unreachable], /127\.0\.0\.1/);
    expect(target.verdict(error).kind).toBe("unanswered");
    expect(paths).toEqual(["POST /v1/table/documents/alter_columns"]);
    server.close();
  });

  test("is never made over a connection that reads have broken", async () => {
    let cut = 0;
    const { url, seen } = await serve((response, request, turn) => {
      if (request.method === "GET" && cut++ < 2) response.destroy();
      else good(response, request, turn);
    });
    const target = await targetAt(url);
    await target.listTables();
    expect(await target.execute(alter, undefined)).toEqual({ version: undefined });
    expect(seen.filter(({ method }) => method === "POST")).toHaveLength(1);
  });
});

describe("TLS", () => {
  const authority = anAuthority();
  const certificate = authority.sign("DNS:localhost,IP:127.0.0.1");

  test("of an authority that nobody knows is a clear error, and no request is made", async () => {
    const { url, seen } = await serve(good, certificate);
    const target = await targetAt(url);
    for (const [, , work] of asked) {
      const error = await thrownBy(work(target));
      expectClear(error, [unreachable], /the certificate of 127\.0\.0\.1:\d+ is not trusted \([A-Z_]+\); .*in "ca"$/);
    }
    expect(seen).toEqual([]);
  });

  test("of an authority that nobody knows is not tried again and again", async () => {
    const { url, connections } = await serve(good, certificate);
    await thrownBy((await targetAt(url)).listTables());
    expect(connections()).toBe(1);
  });

  test.each(["127.0.0.1", "localhost"])("of an own authority works with ca, at %s", async (host) => {
    const { port, seen } = await serve(good, certificate);
    const target = await targetAt(`https://${host}:${port}`, { ca: authority.file });
    expect(await target.listTables()).toEqual(["documents"]);
    expect(await target.execute(alter, undefined)).toEqual({ version: undefined });
    expect(seen).toHaveLength(2);
  });

  test("of an own authority that is not the one in ca is a clear error", async () => {
    const { url } = await serve(good, anAuthority().sign("IP:127.0.0.1"));
    const target = await targetAt(url, { ca: authority.file });
    expectClear(await thrownBy(target.listTables()), [unreachable], /certificate of 127\.0\.0\.1:\d+ is not trusted/);
  });

  test("with another name in the certificate is a clear error", async () => {
    const { port } = await serve(good, authority.sign("DNS:lance.example.com"));
    const target = await targetAt(`https://localhost:${port}`, { ca: authority.file });
    expectClear(await thrownBy(target.listTables()), [unreachable], /certificate of localhost:\d+/);
  });

  test("with a certificate that has run out is a clear error", async () => {
    const { url } = await serve(good, authority.sign("IP:127.0.0.1", -1));
    const target = await targetAt(url, { ca: authority.file });
    expectClear(await thrownBy(target.listTables()), [unreachable], /CERT_HAS_EXPIRED|expired/);
  });

  test("at a server that speaks none is a clear error that names http://", async () => {
    const { port } = await serve(good);
    const target = await targetAt(`https://127.0.0.1:${port}`);
    for (const [, , work] of asked)
      expectClear(
        await thrownBy(work(target)),
        [unreachable],
        /127\.0\.0\.1:\d+ does not speak TLS; does the endpoint begin with http:\/\/\?/,
      );
  });

  test("missing at a server that speaks nothing else is a clear error that names https://", async () => {
    const { port } = await serve(good, certificate);
    const target = await targetAt(`http://127.0.0.1:${port}`);
    expectClear(await thrownBy(target.execute(alter, undefined)), [unreachable], /https:\/\//);
  });
});

describe.concurrent("what is sent", () => {
  test("in the dialect service is the three documented requests with the documented headers, and nothing else", async () => {
    const { url, seen } = await serve(good);
    const target = await targetAt(url, { database: "main" });
    await target.listTables();
    await target.describeTable("documents");
    await target.execute(create, undefined);
    await target.execute(alter, undefined);
    expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "GET /v1/tables",
      "GET /v1/tables",
      "POST /v1/tables/documents",
      "POST /v1/table/documents/alter_columns",
    ]);
    const common = { "x-api-key": key, "x-service-database": "main" };
    const types = ["application/json", "application/json", "application/vnd.apache.arrow.stream", "application/json"];
    expect(seen.map(({ headers }) => headers)).toMatchObject(
      types.map((type) => ({
        ...common,
        "content-type": type,
        "user-agent": expect.stringMatching(/^lance-migrate\/\d/),
      })),
    );
    const id = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
    for (const { headers } of seen) expect(headers["x-request-id"]).toMatch(id);
    expect(new Set(seen.map(({ headers }) => headers["x-request-id"])).size).toBe(4);
    expect(seen[0]!.body).toHaveLength(0);
    expect(tableFromIPC(seen[2]!.body).schema.fields.map(String)).toEqual(["id: Int64"]);
    expect(JSON.parse(seen[3]!.body.toString())).toEqual({ alterations: [{ path: "title", rename: "headline" }] });
    // Each header once, whatever its letters.
    for (const { rawHeaders } of seen) {
      const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
      expect(new Set(names).size).toBe(names.length);
    }
  });

  test("goes over a connection that is kept open", async () => {
    const { url, seen, connections } = await serve(good);
    const target = await targetAt(url);
    for (let round = 0; round < 5; round++) {
      await target.listTables();
      await target.execute(alter, undefined);
      await target.execute(create, undefined);
    }
    expect(seen).toHaveLength(15);
    expect(connections()).toBeLessThanOrEqual(2);
  });

  test("closes its connection when the last of several targets is closed", async () => {
    const { url, isOpen, seen } = await serve((response, ...request) => {
      response.setHeader("keep-alive", "timeout=3600");
      return good(response, ...request);
    });
    // Targets with the same settings share connections. No other test has these.
    const settings = { answerSeconds: 299 };
    const [one, other] = [await targetAt(url, settings), await targetAt(url, settings)];
    await one.listTables();
    await other.listTables();
    const own = seen.map(({ connection }) => connection);
    const isLeftOpen = async () => {
      // What was closed before is closed for the server after these.
      for (let round = 0; round < 10; round++) await fetch(url, { headers: { connection: "close" } });
      return own.some(isOpen);
    };
    await one.close();
    expect(await isLeftOpen()).toBe(true);
    await other.close();
    expect(await isLeftOpen()).toBe(false);
  });

  test("goes over a connection that is kept open after refusals too", async () => {
    const { url, connections } = await serve(text(400, "no"));
    const target = await targetAt(url);
    for (let round = 0; round < 5; round++) await thrownBy(target.execute(alter, undefined));
    expect(connections()).toBeLessThanOrEqual(2);
  });

  test.each<readonly [string, string]>([
    ["documents", "documents"],
    ["a.b-c_d", "a.b-c_d"],
    ["a b", "a%20b"],
    ["a/b", "a%2Fb"],
    ["a?b#c", "a%3Fb%23c"],
    ["100%", "100%25"],
    ["größe", "gr%C3%B6%C3%9Fe"],
    ["{name}", "%7Bname%7D"],
    ["$&", "%24%26"],
  ])("has the table %j in its path as %s", async (table, encoded) => {
    const { url, seen } = await serve(good);
    const target = await targetAt(url);
    await target.execute({ ...create, table } as Action, undefined);
    await target.execute({ ...alter, table } as Action, undefined);
    expect(seen.map(({ path }) => path)).toEqual([`/v1/tables/${encoded}`, `/v1/table/${encoded}/alter_columns`]);
  });

  test("follows what the configuration says about endpoints, headers and their names", async () => {
    const { url, seen } = await serve(json(200, { tables: [] }));
    const target = await targetAt(url, {
      database: "main",
      keyHeader: "X-Lance-Key",
      databaseHeader: "X-Lance-Database",
      headers: { "X-Tenant": "tenant seven", "user-agent": "ours/1", Authorization: "Bearer token-of-ours" },
      endpoints: {
        list: "POST /lance/list?all=true",
        create: "PUT /lance/{name}/new",
        alter: "PATCH /lance/{name}?of={name}",
      },
    });
    await target.listTables();
    await target.execute(create, undefined);
    await target.execute(alter, undefined);
    expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /lance/list?all=true",
      "PUT /lance/documents/new",
      "PATCH /lance/documents?of=documents",
    ]);
    for (const { headers } of seen) {
      expect(headers).toMatchObject({
        "x-lance-key": key,
        "x-lance-database": "main",
        "x-tenant": "tenant seven",
        "user-agent": "ours/1",
        authorization: "Bearer token-of-ours",
      });
      expect(headers).not.toHaveProperty("x-api-key");
      expect(headers).not.toHaveProperty("x-service-database");
    }
  });

  test("has a header once that the configuration writes in capitals", async () => {
    const { url, seen } = await serve(good);
    await (await targetAt(url, { headers: { "User-Agent": "ours/1", "X-Request-Id": "ours-2" } })).listTables();
    const names = seen[0]!.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    expect(names.filter((name) => name === "user-agent" || name === "x-request-id")).toHaveLength(2);
    expect(seen[0]!.headers["user-agent"]).toBe("ours/1");
  });

  test("takes an answer within a time that is no whole number of milliseconds", async () => {
    const { url } = await serve(good);
    expect(await (await targetAt(url, { answerSeconds: 1.2345, connectSeconds: 1.2345 })).listTables()).toEqual([
      "documents",
    ]);
  });
});

describe.concurrent("an extra header's secret", () => {
  test("is not shown either", async () => {
    const token = "Bearer tok-en/of+ours==";
    const { url } = await serve((response, { headers }) =>
      response
        .writeHead(400)
        .end(`${headers.authorization} ${encodeURIComponent(token)} ${Buffer.from(token).toString("base64")}`),
    );
    const error = await thrownBy((await targetAt(url, { headers: { authorization: token } })).listTables());
    const shown = textsIn(error).join("\n");
    for (const form of [token, encodeURIComponent(token), Buffer.from(token).toString("base64").slice(0, 30)])
      expect(shown).not.toContain(form);
  });
});

describe.concurrent("a list in pages", () => {
  const pages = [["a", "b"], ["c"], ["d", "e"]];
  const tokenOf = (path: string) => new URL(path, "http://x").searchParams.get("page_token");

  test.each(["page_token", "pageToken", "next_page_token", "nextPageToken"])(
    "by %s is read whole",
    async (spelling) => {
      for (const dialect of ["service", "namespace"]) {
        const { url, seen } = await serve((response, { path }) => {
          const at = Number((tokenOf(path) ?? "to/0").slice(3));
          const more = at + 1 < pages.length ? { [spelling]: `to/${at + 1}` } : {};
          json(200, { tables: pages[at], ...more })(response, seen[0]!, 1);
        });
        expect(await (await targetAt(url, { dialect })).listTables()).toEqual(["a", "b", "c", "d", "e"]);
        expect(seen.map(({ path }) => tokenOf(path))).toEqual([null, "to/1", "to/2"]);
        expect(new Set(seen.map(({ headers }) => headers["x-request-id"])).size).toBe(3);
      }
    },
  );

  test("asks for the next page behind the query that an endpoint has", async () => {
    const { url, seen } = await serve((response, _, turn) =>
      json(200, turn === 1 ? { tables: ["a"], page_token: "a b&c" } : { tables: [] })(response, seen[0]!, 1),
    );
    const target = await targetAt(url, { endpoints: { list: "GET /v1/tables?all=1" } });
    expect(await target.listTables()).toEqual(["a"]);
    expect(seen[1]!.path).toBe("/v1/tables?all=1&page_token=a%20b%26c");
  });

  test("that is full and says nothing of a next one is asked for it", async () => {
    const names = Array.from({ length: 1_234 }, (_, index) => `t${String(index).padStart(5, "0")}`);
    const { url, seen } = await serve((response, { path }) => {
      const after = tokenOf(path) ?? "";
      json(200, { tables: names.filter((name) => name > after).slice(0, 500) })(response, seen[0]!, 1);
    });
    expect(await (await targetAt(url, { dialect: "namespace" })).listTables()).toEqual(names);
    expect(seen).toHaveLength(3);
  });

  test.each<readonly [string, (turn: number) => unknown]>([
    ["repeats its token", () => ({ tables: ["a"], page_token: "t" })],
    ["repeats its token with other names", (turn) => ({ tables: [`a${turn}`], page_token: "t" })],
    ["has another token and no new name", (turn) => ({ tables: ["a"], page_token: `t${turn}` })],
    ["has another token and nothing else", (turn) => ({ tables: [], page_token: `t${turn}` })],
    ["goes round in a circle", (turn) => ({ tables: [`a${turn % 3}`], page_token: `t${turn % 3}` })],
  ])("of a service that for ever %s comes to an end", async (_, page) => {
    const { url, seen } = await serve((response, request, turn) => json(200, page(turn))(response, request, turn));
    // Whether such a list is an error is not said; that it ends is.
    await (
      await targetAt(url)
    )
      .listTables()
      .catch((error: unknown) => expectClear(error, [answered], /page|token|list/));
    expect(seen.length).toBeLessThan(10);
  });

  // A ledger of markers that is read in part is one in which migrations were not applied.
  test("of a service that answers every token with the first page is not taken for the whole", async () => {
    const { url } = await serve(json(200, { tables: ["a", "b"], page_token: "b" }));
    const error = await thrownBy((await targetAt(url)).listTables());
    expectClear(error, [answered], /page/);
  });

  test("fails when a later page does", async () => {
    const { url, seen } = await serve((response, request, turn) =>
      (turn === 1 ? json(200, { tables: ["a"], page_token: "t" }) : html(200))(response, request, turn),
    );
    expectClear(await thrownBy((await targetAt(url)).listTables()), [answered], /that is no list of tables/);
    expect(seen).toHaveLength(2);
  });
});

describe.concurrent("a marker", () => {
  const marker = async (answer: Answering, given: object = {}) => {
    const { url, seen } = await serve(answer);
    const target = await targetAt(url, given);
    if (target.ledger.kind !== "markers") throw new Error("keeps no markers");
    const { ledger } = target;
    return { seen, create: () => ledger.create("_migrations.e1", [int64], { id: 1 }) };
  };
  const taken =
    (status: number, body: unknown): Answering =>
    (response, request, turn) =>
      (request.method === "GET" ? json(200, ["_migrations.e1"]) : json(status, body))(response, request, turn);
  const free =
    (bad: Answering): Answering =>
    (response, request, turn) =>
      (request.method === "GET" ? json(200, ["other"]) : bad)(response, request, turn);

  test("that is made holds its row", async () => {
    const { seen, create } = await marker(good);
    expect(await create()).toBe(true);
    expect(seen).toHaveLength(1);
    expect(tableFromIPC(seen[0]!.body).toArray().map(String)).toEqual(['{"id": 1}']);
  });

  test.each([
    [400, { error: "Table '_migrations.e1' already exists" }],
    [409, { code: 5, error: "there is one" }],
    [409, "already exists"],
    [422, { message: "no" }],
    [404, "what?"],
  ])("that is there is told by the list, after %i %j", async (status, body) => {
    const { seen, create } = await marker(taken(status, body));
    expect(await create()).toBe(false);
    expect(seen.map(({ method }) => method)).toEqual(["POST", "GET"]);
  });

  test.each<readonly [string, Answering, ErrorCode, RegExp, object]>([
    ["HTML with 404", html(404), answered, /with 404/, {}],
    ["400", json(400, { error: `no ${echo}` }), answered, /with 400: no /, {}],
    ["401", json(401, { error: `no ${echo}` }), "ERR_CREDENTIALS", /credentials for .* \(401\)/, {}],
    ["500", json(500, { error: `no ${echo}` }), answered, /with 500: no /, {}],
    ["502", html(502), unreachable, /502/, {}],
    ["a cut connection", (response) => response.destroy(), unreachable, /cut the connection/, {}],
    ["no answer", () => {}, unreachable, /no whole answer within 0.4 s/, quick.given],
  ])("that fails with %s is sent once and a clear error", async (_, bad, code, says, given) => {
    const { seen, create } = await marker(free(bad), given);
    expectClear(await thrownBy(create()), [code], says);
    expect(seen.filter(({ method }) => method === "POST")).toHaveLength(1);
  });
});

describe.concurrent("the dialect namespace", () => {
  const namespace = async (bad: Answering, given: object = {}) => {
    const served = await serve((response, request, turn) =>
      (request.method === "GET" ? json(200, { tables: ["documents", "_migrations"] }) : bad)(response, request, turn),
    );
    const target = await targetAt(served.url, { dialect: "namespace", ...given });
    if (target.ledger.kind !== "rows") throw new Error("keeps no rows");
    const text: Column = { name: "key", type: { kind: "utf8" }, nullable: false };
    return {
      seen: served.seen,
      target,
      records: target.ledger.records({ name: "_migrations", columns: [text], key: "key" }),
    };
  };
  const posts = (seen: readonly Seen[]) => seen.filter(({ method }) => method === "POST").length;

  test.each<readonly [string, Answering, ErrorCode, RegExp, number, object]>([
    ["HTML with 200", html(200), answered, /that is no description of a table: .*<h1>/, 1, {}],
    // Asked again: the list has the table, which may have been created in between.
    ["HTML with 404", html(404), answered, /with 404/, 2, {}],
    ["nothing", text(200, ""), answered, /that is no description of a table: no message/, 1, {}],
    ["half a JSON", text(200, '{"version":1,"schema":{"fields":['), answered, /that is no description/, 1, {}],
    [
      "fields of the wrong type",
      json(200, { version: 1, schema: { fields: echo } }),
      answered,
      /no description/,
      1,
      {},
    ],
    ["401", json(401, { error: echo }), "ERR_CREDENTIALS", /credentials for .* \(401\)/, 1, {}],
    ["500", json(500, { error: echo }), answered, /with 500/, 1, {}],
    ["503", html(503), answered, /with 503/, 4, {}],
    ["a cut connection", (response) => response.destroy(), unreachable, /cut the connection/, 4, {}],
  ])("describes with %s as a clear error", async (_, bad, code, says, reads, given) => {
    const { seen, target } = await namespace(bad, given);
    expectClear(await thrownBy(target.describeTable("documents")), [code], says);
    expect(posts(seen)).toBe(reads);
  });

  test.each<readonly [number, unknown]>([
    [404, { code: 4, error: "Table 'absent' not found" }],
    [404, "Table 'absent' was not found"],
    [400, { code: 4, error: "not found" }],
  ])("says by %i %j that there is no such table", async (status, body) => {
    const { target } = await namespace(json(status, body));
    expect(await target.describeTable("absent")).toBeUndefined();
    // A column that is missing is 404 too, and so is a route.
    expectClear(await thrownBy(target.describeTable("documents")), [answered], new RegExp(`with ${status}`));
  });

  test("has tables whose types are vague described by their rows, and lives with a bad answer to that", async () => {
    const fields = [{ name: "id", type: { type: "utf8" }, nullable: false }];
    for (const [query, kind] of [
      [(response) => void response.end(rowsToIpc([{ ...int64, type: { kind: "utf8" } }], [])), "utf8"],
      [html(200), "utf8"],
      [html(400), "utf8"],
      [text(200, ""), "utf8"],
      [(response) => void response.end(largeSchema), "utf8"],
    ] as readonly (readonly [Answering, string])[]) {
      const { target } = await namespace((response, request, turn) =>
        (request.path.includes("describe") ? json(200, { version: 1, schema: { fields } }) : query)(
          response,
          request,
          turn,
        ),
      );
      expect(await target.describeTable("documents")).toEqual({
        table: { columns: [{ name: "id", type: { kind }, nullable: false }] },
        version: 1,
      });
    }
  });

  test("has blobs as its description has them, where its rows have something else", async () => {
    const metadata = { "ARROW:extension:name": "lance.blob.v2" };
    const stored = ["data", "uri"].map((name) => ({ name, type: { type: "large_binary" }, nullable: true }));
    const blob = { name: "b", type: { type: "struct", fields: stored }, nullable: true, metadata };
    const fields = [{ name: "at", type: { type: "timestamp" }, nullable: true }, blob];
    const at: Column = { name: "at", type: { kind: "timestamp", unit: "ns" }, nullable: true };
    const place: Column = { name: "b", type: { kind: "struct", fields: [int64] }, nullable: true };
    const { target } = await namespace((response, request, turn) =>
      (request.path.includes("describe")
        ? json(200, { version: 1, schema: { fields } })
        : (one: typeof response) => void one.end(rowsToIpc([at, place], [])))(response, request, turn),
    );
    expect((await target.describeTable("documents"))?.table.columns).toEqual([
      at,
      { name: "b", type: { kind: "blob" }, nullable: true, metadata },
    ]);
  });

  const rows = Buffer.from(
    rowsToIpc(
      [{ name: "key", type: { kind: "utf8" }, nullable: false }],
      Array.from({ length: 50 }, (_, index) => ({ key: `${index}.0` })),
    ),
  );
  // Read as no rows, each would be a ledger in which nothing was applied.
  test.each<readonly [string, Answering]>([
    ["HTML", html(200)],
    ["nothing", text(200, "")],
    ["JSON", json(200, { rows: [] })],
    ["an error in JSON", json(200, { error: `no ${echo}` })],
    ["a text", text(200, "x".repeat(2_000))],
    ["the first bytes of Arrow", (response) => response.end(rows.subarray(0, 7))],
    ["half of an Arrow schema", (response) => response.end(rows.subarray(0, 60))],
    ["half of an Arrow batch", (response) => response.end(rows.subarray(0, rows.length >> 1))],
    ["Arrow without its last bytes", (response) => response.end(rows.subarray(0, -30))],
  ])("does not take %s for a ledger without rows", async (_, bad) => {
    for (const read of ["all", "last"] as const) {
      const { records } = await namespace((response, request, turn) =>
        (request.path.includes("count") ? text(200, "0") : bad)(response, request, turn),
      );
      const error = await thrownBy(
        read === "all" ? records.all(["key"]) : records.last(["key"], ["key"], () => "false"),
      );
      expectClear(error, [answered], /with 200: that is no /);
    }
  });

  test("reads a ledger in both forms of Arrow", async () => {
    const { records } = await namespace((response, request, turn) =>
      request.path.includes("count") ? text(200, "0")(response, request, turn) : response.end(rows),
    );
    expect([...((await records.all(["key"])) ?? [])]).toHaveLength(50);
  });

  test("finds the newest row at a service that returns rows in no order", async () => {
    const { records } = await namespace((response, request, turn) => {
      const { predicate } = JSON.parse(request.body.toString()) as { predicate?: string };
      if (predicate === undefined) response.end(rows);
      else text(200, predicate === "key = 'none'" ? "0" : "1")(response, request, turn);
    });
    const last = await records.last(["key"], ["key"], () => "key = 'none'");
    expect(last).toEqual({ row: { key: "9.0" }, matched: false });
  });

  test("counts once more what was made between the count and the list, and no more than that", async () => {
    let asked = 0;
    const late = await namespace((...request) => (++asked === 1 ? json(404, "not found") : text(200, "3"))(...request));
    expect(await late.records.count("true")).toBe(3);
    const never = await namespace(json(404, `no ${echo}`));
    expectClear(await thrownBy(never.records.count("true")), [answered], /with 404/);
    expect(posts(never.seen)).toBe(2);
  });

  test.each<readonly [string, Answering]>([
    ["HTML", html(200)],
    ["nothing", text(200, "")],
    ["half a JSON", text(200, '{"count":4')],
    ["a text", json(200, "7")],
  ])("does not take %s for a number of rows", async (_, bad) => {
    const { records } = await namespace(bad);
    expectClear(await thrownBy(records.count("true")), [answered], /that is no number of rows/);
  });
});

describe("a proxy from the environment", () => {
  const names = ["http_proxy", "https_proxy", "no_proxy"].flatMap((name) => [name, name.toUpperCase()]);
  beforeEach(() => names.forEach((name) => vi.stubEnv(name, undefined)));
  afterEach(() => vi.unstubAllEnvs());

  test.each(["http_proxy", "HTTP_PROXY"])("in %s carries requests", async (name) => {
    const { url, seen } = await serve(good);
    const proxy = await serveProxy();
    vi.stubEnv(name, proxy.url);
    const target = await targetAt(`${url}/base`);
    expect(await target.listTables()).toEqual(["documents"]);
    expect(await target.execute(alter, undefined)).toEqual({ version: undefined });
    expect(proxy.seen.map((line) => line.replace(url, ""))).toEqual([
      "GET /base/v1/tables",
      "POST /base/v1/table/documents/alter_columns",
    ]);
    expect(seen.map(({ headers }) => headers["x-api-key"])).toEqual([key, key]);
  });

  test.each(["https_proxy", "HTTPS_PROXY"])("in %s makes tunnels for TLS, through which ca holds", async (name) => {
    const authority = anAuthority();
    const { port, seen } = await serve(good, authority.sign("DNS:localhost"));
    const proxy = await serveProxy();
    vi.stubEnv(name, proxy.url);
    const target = await targetAt(`https://localhost:${port}`, { ca: authority.file });
    expect(await target.listTables()).toEqual(["documents"]);
    expect(await target.execute(alter, undefined)).toEqual({ version: undefined });
    expect(new Set(proxy.seen)).toEqual(new Set([`CONNECT localhost:${port}`]));
    expect(seen.map(({ headers }) => headers["x-api-key"])).toEqual([key, key]);
  });

  test("makes tunnels in which a certificate is checked", async () => {
    const { port } = await serve(good, anAuthority().sign("DNS:localhost"));
    vi.stubEnv("https_proxy", (await serveProxy()).url);
    const target = await targetAt(`https://localhost:${port}`);
    expectClear(await thrownBy(target.listTables()), [unreachable], /the certificate of localhost:\d+ is not trusted/);
  });

  test.each(["127.0.0.1", "*", "localhost,127.0.0.1"])("is left out where no_proxy says %j", async (hosts) => {
    const { url } = await serve(good);
    const proxy = await serveProxy();
    vi.stubEnv("http_proxy", proxy.url);
    vi.stubEnv("no_proxy", hosts);
    expect(await (await targetAt(url)).listTables()).toEqual(["documents"]);
    expect(proxy.seen).toEqual([]);
  });

  test("is asked with the name and the password of its address", async () => {
    const { url } = await serve(good);
    const proxy = await serveProxy();
    vi.stubEnv("http_proxy", proxy.url.replace("//", "//user:pa%40ss@"));
    expect(await (await targetAt(url)).listTables()).toEqual(["documents"]);
    expect(proxy.authorizations).toEqual([`Basic ${Buffer.from("user:pa@ss").toString("base64")}`]);
  });

  // Whoever reads "check endpoint" looks in the wrong place.
  test.each<readonly [string, () => Promise<string>]>([
    ["does not listen", async () => `http://user:pa5sword@127.0.0.1:${await freePort()}`],
    ["has an unknown name", async () => "http://user:pa5sword@no-such-proxy.invalid:3128"],
    ["wants another password", async () => (await serveProxy(407)).url.replace("//", "//user:pa5sword@")],
    ["refuses to reach that", async () => (await serveProxy(403)).url.replace("//", "//user:pa5sword@")],
    ["is no address", async () => "pa5sword proxy"],
    ["has no scheme", async () => "pa5sword.example.com:3128"],
    ["has a port that is none", async () => "http://user:pa5sword@127.0.0.1:99999"],
    ["has a password that is badly encoded", async () => "http://us%er:pa5sword%zz@127.0.0.1:3128"],
    ["speaks an unknown protocol", async () => "socks4://user:pa5sword@127.0.0.1:1080"],
  ])("that %s is a clear error about the proxy, for plain text and for TLS", async (_, at) => {
    const proxy = await at();
    vi.stubEnv("http_proxy", proxy);
    vi.stubEnv("https_proxy", proxy);
    for (const endpoint of [(await serve(good)).url, `https://127.0.0.1:${await freePort()}`]) {
      const error = await thrownBy((await targetAt(endpoint, { answerSeconds: 3 })).execute(alter, undefined));
      if (!isMigrateError(error)) throw new Error("is no MigrateError", { cause: error });
      expect(["unreachable", "usage"]).toContain(error.outcome);
      // A refusal of a plain request can't be told from the service's own.
      if (error.code !== "ERR_CREDENTIALS") expect(error.message).toMatch(/proxy/i);
      expect(error.message).not.toMatch(/is not a function|\n/);
      expect(textsIn(error).filter((one) => one.includes("pa5sword") || keysIn(one).length > 0)).toEqual([]);
    }
  });

  test("that answers nothing is a clear error in time, and the target can be closed", async () => {
    const { url } = await serveSockets(() => {});
    vi.stubEnv("http_proxy", url);
    vi.stubEnv("https_proxy", url);
    for (const endpoint of [`http://127.0.0.1:${await freePort()}`, `https://127.0.0.1:${await freePort()}`]) {
      const target = await targetAt(endpoint, quick.given);
      const error = await thrownBy(target.execute(alter, undefined));
      expectClear(error, [unreachable], /gave no whole answer within 0\.4 s/);
      await target.close();
    }
  });

  test("that cuts connections is a clear error, and a change is sent once", async () => {
    const cut = await serveSockets((socket) => socket.destroy());
    vi.stubEnv("http_proxy", cut.url);
    vi.stubEnv("https_proxy", cut.url);
    for (const endpoint of [`http://127.0.0.1:${await freePort()}`, `https://127.0.0.1:${await freePort()}`]) {
      const before = cut.seen.length;
      const target = await targetAt(endpoint, { answerSeconds: 3 });
      expectClear(await thrownBy(target.execute(alter, undefined)), [unreachable], /127\.0\.0\.1/);
      expect(cut.seen.length - before).toBe(1);
    }
  });
});
