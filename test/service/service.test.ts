import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { createServer } from "node:http";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, onTestFinished, test } from "vitest";
import { createApp } from "../../src/features/serve/app.ts";
import { openDataFolder } from "../../src/features/serve/tables/data-folder.ts";
import { routes } from "../../src/features/serve/routes/index.ts";
import { serviceRoutes } from "../../src/features/serve/routes/service.ts";
import type { Column } from "../../src/schema/data-type.ts";
import { Message } from "apache-arrow/fb/message";
import { MetadataVersion } from "apache-arrow/fb/metadata-version";
import { ByteBuffer } from "flatbuffers";
import { toIpcStream } from "../../src/wire/arrow/arrow-schema.ts";
import { temporaryFolder } from "../support/project.ts";
import { addRows, columnsOf, lancedb, rowsOf, versionsOf } from "../support/tables.ts";
import { aService, apiKey, arrow, startIn } from "./served.ts";

const arrowType = "application/vnd.apache.arrow.stream";

const documents: readonly Column[] = [
  { name: "id", type: { kind: "int32" }, nullable: false },
  { name: "title", type: { kind: "utf8" }, nullable: true },
  {
    name: "source",
    type: {
      kind: "struct",
      fields: [
        { name: "url", type: { kind: "utf8" }, nullable: true },
        { name: "page", type: { kind: "int32" }, nullable: true },
      ],
    },
    nullable: true,
  },
];

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** Requests as any program makes them. */
function asking(url: string, headers: Record<string, string> = { "x-api-key": apiKey }) {
  const send = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const answer = await fetch(url + path, { ...init, headers: { ...headers, ...init.headers } });
    return { status: answer.status, headers: answer.headers, body: JSON.parse(await answer.text()) as unknown };
  };
  return {
    get: (path: string) => send(path),
    post: (path: string, body: unknown) =>
      send(path, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      }),
    arrow: (path: string, body: Buffer) =>
      send(path, { method: "POST", body: new Uint8Array(body), headers: { "content-type": arrowType } }),
    send,
  };
}

/** A service with one table of no rows, and whoever asks it. */
async function aTable(columns: readonly Column[] = documents) {
  const served = await aService();
  const ask = asking(served.service.url);
  expect((await ask.arrow("/v1/tables/documents", toIpcStream(columns))).status).toBe(200);
  return { ...served, ask };
}

const streamOf = (rows: Record<string, unknown>[], schema: InstanceType<typeof arrow.Schema>) =>
  Buffer.from(arrow.tableToIPC(lancedb.makeArrowTable(rows, { schema }), "stream"));

describe("the document's three endpoints", () => {
  test("a created table is listed and has the columns that were sent", async () => {
    const { ask, folder } = await aTable();
    expect((await ask.get("/v1/tables")).body).toEqual({ tables: ["documents"] });
    expect(await columnsOf(folder, "documents")).toEqual([
      "id: int32 not null",
      "title: utf8",
      "source: struct<url: utf8, page: int32>",
    ]);
  });

  test("a second create of one name is refused in the words that clients look for", async () => {
    const { ask } = await aTable();
    const { status, body } = await ask.arrow("/v1/tables/documents", toIpcStream(documents));
    expect([status, body]).toEqual([
      400,
      { code: 5, error: "Table 'documents' already exists", instance: "/v1/tables/documents" },
    ]);
  });

  test.each([
    "/v1/tables/",
    "//v1//tables",
    "/v1/table",
    "/v1/namespace/$/table/list/",
    "/v1/namespace/%24/table/list",
  ])("the list is at %s too", async (path) => {
    const { ask } = await aTable();
    expect((await ask.get(path)).body).toEqual({ tables: ["documents"] });
  });

  test("the body of a request for the root namespace may contain its id", async () => {
    const { ask } = await aTable();
    expect((await ask.post("/v1/namespace/$/describe", { id: [] })).body).toEqual({ properties: {} });
  });
});

describe("alter_columns", () => {
  const alter = async (...alterations: unknown[]) => {
    const { ask, folder } = await aTable();
    const { status, body } = await ask.post("/v1/table/documents/alter_columns/", { alterations });
    return { status, body: body as { code?: number; error?: string; version?: number }, folder };
  };

  test.each<{ what: string; alterations: unknown[] }>([
    { what: "a rename to the same name", alterations: [{ path: "title", rename: "title" }] },
    { what: "a nested rename to the same name", alterations: [{ path: "source.page", rename: "page" }] },
    { what: "a retype to the same type", alterations: [{ path: "id", data_type: { type: "int32" } }] },
    {
      what: "a retype of a struct to its own type",
      alterations: [
        {
          path: "source",
          data_type: {
            type: "struct",
            fields: [
              { name: "url", type: { type: "string" }, nullable: true },
              { name: "page", type: { type: "int32" }, nullable: true },
            ],
          },
        },
      ],
    },
    { what: "a nullable that is so already", alterations: [{ path: "title", nullable: true }] },
    {
      what: "a type in capitals beside nulls for what stays",
      alterations: [{ path: "title", rename: null, data_type: "LARGE_UTF8", nullable: null }],
    },
    { what: "nothing at all", alterations: [] },
    {
      what: "a swap",
      alterations: [
        { path: "id", rename: "title" },
        { path: "title", rename: "id" },
      ],
    },
  ])("$what is one version", async ({ alterations }) => {
    expect(await alter(...alterations)).toMatchObject({ status: 200, body: { version: 2 } });
  });

  test.each<{ what: string; alterations: unknown[]; code: number; error: RegExp }>([
    { what: "a missing field", alterations: [{ path: "source.no", rename: "no" }], code: 12, error: /source\.no/ },
    { what: "an empty name", alterations: [{ path: "title", rename: "" }], code: 13, error: /is empty/ },
    { what: "a name with a backtick", alterations: [{ path: "title", rename: "a`b" }], code: 13, error: /backtick/ },
    {
      what: "the name of a sibling",
      alterations: [{ path: "source.page", rename: "url" }],
      code: 13,
      error: /Duplicate/,
    },
    {
      what: "one column twice",
      alterations: [
        { path: "id", rename: "a" },
        { path: "`id`", nullable: true },
      ],
      code: 13,
      error: /twice/,
    },
  ])("$what is refused in words, and nothing changes", async ({ alterations, code, error }) => {
    const { status, body, folder } = await alter(...alterations);
    expect([status, body.code]).toEqual([400, code]);
    expect(body.error).toMatch(error);
    expect(await versionsOf(folder)).toEqual({ documents: 1 });
  });

  test("a retype of one field leaves the struct readable by a filter", async () => {
    const { ask, folder } = await aTable();
    const db = await lancedb.connect(folder);
    await (await db.openTable("documents")).add([{ id: 1, title: "a", source: { url: "u", page: 3 } }]);
    const body = { alterations: [{ path: "source.page", data_type: { type: "int64" } }] };
    expect((await ask.post("/v1/table/documents/alter_columns", body)).status).toBe(200);
    expect((await ask.post("/v1/table/documents/count_rows", { predicate: "source.page = 3" })).body).toBe(1);
  });
});

describe("who may come in", () => {
  test.each([
    { what: "no key", headers: {}, path: "/v1/tables" },
    { what: "no key for a path that can't be read", headers: {}, path: "/v1/table/%zz/describe" },
    { what: "no key for the OpenAPI document", headers: {}, path: "/openapi.json" },
  ])("$what is answered 401", async ({ headers, path }) => {
    const { service } = await aService();
    const { status, body } = await asking(service.url, headers as Record<string, string>).get(path);
    expect([status, body]).toMatchObject([401, { code: 16, instance: path }]);
  });

  test("a wrong key is answered before the body has come", async () => {
    const { service } = await aService();
    const sent = request(`${service.url}/v1/tables/a`, {
      method: "POST",
      headers: { "x-api-key": "wrong", "content-type": arrowType, "content-length": "1000000" },
    });
    sent.flushHeaders();
    const [answer] = (await once(sent, "response")) as [{ statusCode: number }];
    expect(answer.statusCode).toBe(401);
    sent.destroy();
  });

  test("a service of a database wants it named, by either header", async () => {
    const { service } = await aService({ database: "archive" });
    const get = async (more: Record<string, string>) =>
      await asking(service.url, { "x-api-key": apiKey, ...more }).get("/v1/tables");
    expect(await get({})).toMatchObject({
      status: 400,
      body: { code: 13, error: expect.stringMatching(/x-service-database/) },
    });
    expect(await get({ "x-service-database": "other" })).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/"other"/) },
    });
    expect((await get({ "x-service-database": "archive" })).status).toBe(200);
    expect((await get({ "x-lancedb-database": "archive" })).status).toBe(200);
    expect((await get({ "x-lancedb-database": "archive", "x-service-database": "other" })).status).toBe(400);
  });

  test("the health check needs no key and says nothing else", async () => {
    const { service } = await aService({ database: "archive" });
    const { status, body } = await asking(service.url, {}).get("/healthz");
    expect([status, body]).toEqual([200, { status: "ok" }]);
  });

  test("HEAD answers as GET does, without a body and without a key", async () => {
    const { service, log } = await aService();
    const [got, asked] = await Promise.all(
      ["GET", "HEAD"].map(async (method) => await fetch(`${service.url}/healthz`, { method })),
    );
    expect([asked!.status, await asked!.text()]).toEqual([200, ""]);
    for (const header of ["content-type", "content-length"])
      expect(asked!.headers.get(header)).toBe(got!.headers.get(header));
    expect((await fetch(`${service.url}/openapi.json`, { method: "HEAD" })).status).toBe(401);
    expect(log).toHaveLength(1);
  });

  test("no line of the log holds the key, wherever it was sent", async () => {
    const { service, log } = await aService();
    const ask = asking(service.url, { "x-api-key": apiKey, "x-request-id": apiKey, "x-other": apiKey });
    await ask.get(`/v1/tables?limit=1&page_token=${apiKey}`);
    await ask.get(`/${apiKey}`);
    await ask.post(`/v1/table/${apiKey}/describe`, { note: apiKey });
    expect(log).toHaveLength(3);
    expect(log.join("\n")).not.toContain(apiKey);
    expect(log[0]).toMatch(/^\S+Z GET \/v1\/tables 200 \d+ms \*\*\*$/);
  });
});

test("the OpenAPI document is valid and has the routes, no more and no fewer", async () => {
  const data = openDataFolder(temporaryFolder());
  const workers = { places: 1, perform: () => Promise.reject(new Error("nothing is asked")) };
  const { web } = await createApp({ workers, data, apiKey, bodyLimit: 1000, requestTimeout: 1000, log: () => {} });
  onTestFinished(() => web.close());
  const { service } = await aService();
  const all = [...routes, ...serviceRoutes];
  const document = (await asking(service.url).get("/openapi.json")).body as {
    paths: Record<string, Record<string, unknown>>;
  };
  expect(await new Validator().validate(document)).toEqual({ valid: true });
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ":$1")}`),
  );
  expect(described.toSorted()).toEqual(all.map(({ method, path }) => `${method} ${path}`).toSorted());
  for (const { method, path } of all) expect(web.hasRoute({ method, url: path })).toBe(true);
  // One line a route, methods in brackets: what is served beside them would show here.
  const served = web.printRoutes({ commonPrefix: false }).match(/\((?:GET|HEAD|POST)(?:, (?:GET|HEAD|POST))*\)/g) ?? [];
  const methods = served.flatMap((some) => some.slice(1, -1).split(", "));
  // The document does not list HEAD, which answers as GET does.
  expect(methods.filter((method) => method !== "HEAD")).toHaveLength(all.length);
});

describe("bodies", () => {
  test.each([
    {
      limit: 1,
      path: "tables/t",
      bytes: 2 ** 20 + 1,
      error: "the body is larger than 1 MB, the limit that --body-limit sets",
    },
    {
      limit: 1,
      path: "table/t/query",
      bytes: 2 ** 20 + 1,
      error: "the body is larger than 1 MB, the limit that --body-limit sets",
    },
    {
      limit: 100,
      path: "table/t/query",
      bytes: 2 ** 24 + 1,
      error: "the body is larger than 16 MB, the limit of JSON",
    },
    {
      limit: 100,
      path: "table/t/rename",
      bytes: 2 ** 20,
      error: "the body is larger than 256 kB, the limit of this route",
    },
  ])(
    "a body that is too large is refused with its limit: $path, $bytes bytes",
    async ({ limit, path, bytes, error }) => {
      const { service } = await aService({ bodyLimit: limit * 2 ** 20 });
      const headers = { "content-type": path.startsWith("tables") ? arrowType : "application/json" };
      const sent = { method: "POST", headers, body: " ".repeat(bytes) };
      expect(await asking(service.url).send(`/v1/${path}`, sent)).toMatchObject({
        status: 413,
        body: { code: 13, error },
      });
    },
  );

  test("a body that comes too slowly ends, and its table is not there", async () => {
    const { service, folder } = await aService({ requestTimeout: 500 });
    const socket = connect(service.port, "127.0.0.1");
    socket.write(
      `POST /v1/tables/slow HTTP/1.1\r\nhost: a\r\nx-api-key: ${apiKey}\r\ncontent-type: ${arrowType}\r\ncontent-length: 1000\r\n\r\nAB`,
    );
    const [first] = (await once(socket, "data")) as [Buffer];
    expect(first.toString()).toMatch(/^HTTP\/1\.1 408 .*"code":13/s);
    await once(socket, "close");
    expect(await versionsOf(folder)).toEqual({});
  });
});

const keyed = new arrow.Schema([
  new arrow.Field("key", new arrow.Utf8(), false, new Map([["lance-schema:unenforced-primary-key", "true"]])),
  new arrow.Field("by", new arrow.Int32(), true),
]);

test.each<{ what: string; added: readonly string[]; error: string }>([
  { what: "a name in another case", added: ["ID"], error: "documents would have id and ID, which differ only in case" },
  {
    what: "two new names in different cases",
    added: ["n", "N"],
    error: "documents would have n and N, which differ only in case",
  },
  { what: "a name that is taken", added: ["id"], error: "documents would have two columns named id" },
])("add_columns refuses $what", async ({ added, error }) => {
  const { ask, folder } = await aTable();
  const refusal = { status: 400, body: { code: 13, error: `Duplicate field name: ${error}` } };
  const sql = { new_columns: added.map((name) => ({ name, expression: "1" })) };
  expect(await ask.post("/v1/table/documents/add_columns", sql)).toMatchObject(refusal);
  const columns = added.map((name): Column => ({ name, type: { kind: "int32" }, nullable: true }));
  expect(await ask.arrow("/v1/table/documents/add_columns", toIpcStream(columns))).toMatchObject(refusal);
  expect(await versionsOf(folder)).toEqual({ documents: 1 });
});

test("metadata that would make a table unreadable is refused, and the table stays as it is", async () => {
  const { ask, folder } = await aTable([{ name: "c", type: { kind: "utf8" }, nullable: true }]);
  await addRows(folder, "documents", [{ c: "x" }]);
  const update = (metadata: object, replace = false) =>
    ask.post("/v1/table/documents/update_field_metadata", { updates: [{ path: "c", metadata, replace }] });
  for (const [key, value] of [
    ["ARROW:extension:name", "arrow.json"],
    ["lance-encoding:blob", "true"],
    ["packed", "true"],
  ] as const) {
    const { status, body } = await update({ [key]: value });
    expect([status, (body as { error: string }).error]).toEqual([400, expect.stringContaining(key)]);
  }
  expect((await update({ model: "e5" }, true)).status).toBe(200);
  expect(await rowsOf(folder, "documents")).toEqual([{ c: "x" }]);
});

test("JSON is described as it is stored, and not cast to its bytes", async () => {
  const { ask, folder } = await aTable([{ name: "c", type: { kind: "json" }, nullable: true }]);
  await addRows(folder, "documents", [{ c: "{}" }]);
  const { body } = await ask.post("/v1/table/documents/describe", {});
  const metadata = { "ARROW:extension:name": "lance.json" };
  const field = { name: "c", type: { type: "large_binary" }, nullable: true, metadata };
  expect(body).toMatchObject({ schema: { fields: [field] } });
  for (const type of ["binary", "large_binary"]) {
    const alterations = [{ path: "c", data_type: { type } }];
    const refused = await ask.post("/v1/table/documents/alter_columns", { alterations });
    expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining("c is json") } });
  }
  expect(await rowsOf(folder, "documents")).toEqual([{ c: "{}" }]);
});

test("a column without which the table could not be read any more is not dropped", async () => {
  const { ask, folder } = await aTable([
    { name: "a", type: { kind: "int32" }, nullable: true },
    { name: "b", type: { kind: "utf8" }, nullable: true },
  ]);
  await addRows(folder, "documents", [{ a: 1 }]);
  const { status } = await ask.post("/v1/table/documents/drop_columns", { columns: ["a"] });
  expect(status).toBe(400);
  expect(await rowsOf(folder, "documents")).toEqual([{ a: 1, b: null }]);
});

test("what marks the key of a table is described", async () => {
  const { service } = await aService();
  const ask = asking(service.url);
  await ask.arrow("/v1/tables/ledger", streamOf([], keyed));
  const { body } = await ask.post("/v1/table/ledger/describe", { version: null });
  expect(body).toMatchObject({
    version: 1,
    schema: { fields: [{ name: "key", metadata: { "lance-schema:unenforced-primary-key": "true" } }, { name: "by" }] },
  });
});

test("the service stops when the requests in flight have their answers", async () => {
  const folder = temporaryFolder();
  const { service } = await startIn(folder);
  const ask = asking(service.url);
  await ask.arrow("/v1/tables/documents", toIpcStream(documents));
  // Connections that stand, so that what is sent now has arrived when the first is answered.
  await Promise.all(Array.from({ length: 20 }, () => ask.get("/healthz")));
  const inFlight = Array.from({ length: 20 }, () =>
    ask.post("/v1/table/documents/alter_columns", { alterations: [{ path: "title", rename: "title" }] }),
  );
  await Promise.race(inFlight);
  const closing = service.close();
  expect((await Promise.all(inFlight)).map(({ status }) => status)).toEqual(inFlight.map(() => 200));
  await closing;
  await expect(ask.get("/healthz")).rejects.toThrow("fetch failed");
  expect(await versionsOf(folder)).toEqual({ documents: 21 });
});

test("the service stops although a client does not read its answer, or sends half a request", async () => {
  const schema = new arrow.Schema([new arrow.Field("text", new arrow.Utf8(), true)]);
  // More than the buffers between the two hold.
  const rows = streamOf(
    Array.from({ length: 20_000 }, () => ({ text: "x".repeat(1_000) })),
    schema,
  );
  const stops = async (path: string, type: string, length: number, sent: string) => {
    const { service } = await startIn(temporaryFolder());
    expect((await asking(service.url).arrow("/v1/tables/big", rows)).status).toBe(200);
    const socket = connect(service.port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => {});
    socket.pause();
    socket.write(
      `POST /v1/table/big/${path} HTTP/1.1\r\nhost: a\r\nx-api-key: ${apiKey}\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n\r\n${sent}`,
    );
    await sleep(2_000);
    await service.close();
  };
  await Promise.all([
    stops("query", "application/json", 2, "{}"),
    stops("query", "application/json", 2, "{"),
    stops("insert", arrowType, 1_000, "AB"),
  ]);
});

describe("numbers that the engine's own do not hold", () => {
  const aQuery = async (body: object) => {
    const { ask, service } = await aTable([{ name: "n", type: { kind: "int32" }, nullable: true }]);
    const schema = new arrow.Schema([new arrow.Field("n", new arrow.Int32(), true)]);
    const rows = [{ n: 1 }, { n: 2 }, { n: 3 }];
    expect((await ask.arrow("/v1/table/documents/insert", streamOf(rows, schema))).status).toBe(200);
    const headers = { "x-api-key": apiKey, "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    const answer = await fetch(`${service.url}/v1/table/documents/query`, init);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    return answer.status === 200 ? arrow.tableFromIPC(bytes).numRows : answer.status;
  };

  test.each([2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 2 ** 40, Number.MAX_SAFE_INTEGER, 2 ** 63])(
    "k of %i means all",
    async (k) => {
      expect([await aQuery({ k }), await aQuery({ limit: k })]).toEqual([3, 3]);
    },
  );

  test("an offset above the largest is refused", async () => {
    expect(await aQuery({ offset: 2 })).toBe(1);
    expect(await aQuery({ offset: 2 ** 32 - 1 })).toBe(0);
    for (const offset of [2 ** 32, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]) expect(await aQuery({ offset })).toBe(400);
  });
});

/** The same stream as it was written before Arrow 1.0. */
function inV4(stream: Buffer): Buffer {
  const old = Buffer.from(stream);
  for (let at = 0; at + 8 <= old.length;) {
    const length = old.readInt32LE(at + 4);
    if (length === 0) break;
    const bytes = new ByteBuffer(new Uint8Array(old.buffer, old.byteOffset + at + 8, length));
    const message = Message.getRootAsMessage(bytes);
    // The version is a message's first field.
    bytes.writeInt16(message.bb_pos + bytes.__offset(message.bb_pos, 4), MetadataVersion.V4);
    expect(message.version()).toBe(MetadataVersion.V4);
    at += 8 + length + Number(message.bodyLength());
  }
  return old;
}

test("an Arrow stream of metadata version V4 is taken", async () => {
  const { service, folder } = await aService();
  const ask = asking(service.url);
  const schema = new arrow.Schema([new arrow.Field("id", new arrow.Int32(), true)]);
  const stream = inV4(streamOf([{ id: 1 }, { id: 2 }], schema));
  expect((await ask.arrow("/v1/tables/old", stream)).status).toBe(200);
  expect((await ask.arrow("/v1/table/old/insert", stream)).status).toBe(200);
  expect(await rowsOf(folder, "old")).toEqual([{ id: 1 }, { id: 2 }, { id: 1 }, { id: 2 }]);
});

test.each<Record<string, unknown>>([
  { index_type: "IVF_PQ", column: "vector", num_partitions: "four" },
  { index_type: "IVF_PQ", column: "vector", num_sub_vectors: [1] },
  { index_type: "IVF_FLAT", column: "vector", distance_type: 5 },
  { index_type: "IVF_HNSW_SQ", column: "vector", m: {} },
  { index_type: "FTS", column: "title", base_tokenizer: 5 },
  // The engine ends its process at a language that it does not know.
  { index_type: "FTS", column: "title", language: "Klingon" },
  { index_type: "FTS", column: "title", with_position: "yes" },
  { index_type: "FTS", column: "title", custom_stop_words: "x" },
  { index_type: "FTS", column: "title", custom_stop_words: [1] },
  // The engine would take it for its own, and could not use the table.
  { index_type: "BTREE", column: "title", name: "__lance_frag_reuse" },
])("an index option of a wrong type is refused: %j", async (body) => {
  const item = { name: "item", type: { kind: "float32" }, nullable: true } as const;
  const { ask, folder } = await aTable([
    { name: "title", type: { kind: "utf8" }, nullable: true },
    { name: "vector", type: { kind: "fixedSizeList", length: 2, item }, nullable: true },
  ]);
  const answer = await ask.post("/v1/table/documents/create_index", body);
  expect([answer.status, answer.body]).toMatchObject([400, { error: expect.any(String) }]);
  expect(await versionsOf(folder)).toEqual({ documents: 1 });
});

test.each([undefined, null, "German"])("an index on text in the language %s is made", async (language) => {
  const { ask } = await aTable([{ name: "title", type: { kind: "utf8" }, nullable: true }]);
  const body = { index_type: "FTS", column: "title", language };
  expect(await ask.post("/v1/table/documents/create_index", body)).toMatchObject({ status: 200 });
});

test("a folder that is a file is refused in a sentence", async () => {
  const file = join(temporaryFolder(), "file");
  writeFileSync(file, "");
  await expect(startIn(file)).rejects.toMatchObject({
    code: "ERR_SERVICE_DATA",
    message: expect.stringMatching(/is a file/),
  });
});

test("a port that is taken is refused in a sentence", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  onTestFinished(() => void other.close());
  const { port } = other.address() as { port: number };
  await expect(startIn(temporaryFolder(), { port })).rejects.toMatchObject({
    code: "ERR_SERVICE_ADDRESS",
    message: expect.stringMatching(/something listens there already/),
  });
});
