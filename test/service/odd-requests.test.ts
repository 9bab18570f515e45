/** Requests that the fuzzer (test/fuzz) found to be answered badly. */
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { endOfStream, readMessages } from "../../src/wire/arrow/ipc-messages.ts";
import { apiKey, arrow, aService } from "./served.ts";
import { send } from "./raw.ts";

const asJson = { "x-api-key": apiKey, "content-type": "application/json" };
const asArrow = { "x-api-key": apiKey, "content-type": "application/vnd.apache.arrow.stream" };

const streamOf = (columns: Readonly<Record<string, number>>) =>
  arrow.tableToIPC(
    new arrow.Table(
      Object.fromEntries(
        Object.entries(columns).map(([name, value]) => [name, arrow.vectorFromArray([value], new arrow.Int32())]),
      ),
    ),
    "stream",
  );

test("an expectation that the service cannot meet is refused with an error as any other", async () => {
  const { service } = await aService();
  const { status, body } = await send(service.url, {
    path: "/v1/table/t/count_rows?a=secret",
    headers: { ...asJson, expect: "the impossible" },
    body: "{}",
  });
  expect([status, JSON.parse(body.toString())]).toEqual([
    417,
    { code: 13, error: "the header expect may only be 100-continue", instance: "/v1/table/t/count_rows" },
  ]);
});

test("the refusal of a merge with other columns does not name a place in the engine's source", async () => {
  const { service } = await aService();
  await send(service.url, { path: "/v1/tables/t", headers: asArrow, body: streamOf({ id: 1 }) });
  const { status, body } = await send(service.url, {
    path: "/v1/table/t/merge_insert?on=id&when_not_matched_insert_all=true",
    headers: asArrow,
    body: streamOf({ id: 1, other: 2 }),
  });
  expect([status, (JSON.parse(body.toString()) as { error: string }).error]).toEqual([
    400,
    "Append with different schema: fields did not match, missing=[], unexpected=[other]",
  ]);
});

test("the refusal of a query for a vector column that does not exist does not print the schema", async () => {
  const { service } = await aService();
  await send(service.url, { path: "/v1/tables/t", headers: asArrow, body: streamOf({ id: 1 }) });
  const query = JSON.stringify({ vector: [1, 2], vector_column: "v", k: 1 });
  const { status, body } = await send(service.url, { path: "/v1/table/t/query", headers: asJson, body: query });
  expect([status, JSON.parse(body.toString())]).toEqual([
    400,
    { code: 12, error: "column v does not exist", instance: "/v1/table/t/query" },
  ]);
});

test("a column name that is not UTF-8 is refused in words, not with what the engine prints", async () => {
  const { service } = await aService();
  await send(service.url, { path: "/v1/tables/t", headers: asArrow, body: streamOf({ id: 1 }) });
  const stream = Buffer.from(streamOf({ nameOfColumn: 1 }));
  stream[stream.indexOf("nameOfColumn") + 3] = 0xff;
  const { status, body } = await send(service.url, { path: "/v1/table/t/insert", headers: asArrow, body: stream });
  expect([status, (JSON.parse(body.toString()) as { error: string }).error]).toEqual([
    400,
    "a text in the schema of the Arrow data is not UTF-8",
  ]);
});

test("a field that is missing inside a list is named, without what the validator prints", async () => {
  const { service } = await aService();
  await send(service.url, { path: "/v1/tables/t", headers: asArrow, body: streamOf({ id: 1 }) });
  const query = JSON.stringify({ vector: [], k: 1, order_by: [{}] });
  const { status, body } = await send(service.url, { path: "/v1/table/t/query", headers: asJson, body: query });
  expect([status, (JSON.parse(body.toString()) as { error: string }).error]).toEqual([
    400,
    "order_by.0.column_name must be of type string",
  ]);
});

test.each([
  ["x".repeat(210), true],
  ["x".repeat(211), false],
  ["x".repeat(240), false],
  ["\u00fc".repeat(21), true],
  ["\u00fc".repeat(22), false],
  ["\u4e2d".repeat(14), true],
  ["\u4e2d".repeat(15), false],
])("a tag is created, or refused because of its length: %s", async (tag, fits) => {
  const { service } = await aService();
  await send(service.url, { path: "/v1/tables/t", headers: asArrow, body: streamOf({ id: 1 }) });
  const requests = [
    ["tags/create", { tag, version: 1 }],
    ["describe", { tag }],
  ] as const;
  for (const [path, body] of requests) {
    const answer = await send(service.url, {
      path: `/v1/table/t/${path}`,
      headers: asJson,
      body: JSON.stringify(body),
    });
    const words = fits ? /^\{/ : /"error":"tag must not be longer than 210 characters/;
    expect([answer.status, answer.body.toString()]).toEqual([fits ? 200 : 400, expect.stringMatching(words)]);
  }
});

test.each([{ id: {} }, { id: null }, { id: 1 }])("columns that are given as %j are refused", async (columns) => {
  const { service } = await aService();
  await send(service.url, { path: "/v1/tables/t", headers: asArrow, body: streamOf({ id: 1 }) });
  const query = JSON.stringify({ vector: [], k: 1, columns });
  const { status, body } = await send(service.url, { path: "/v1/table/t/query", headers: asJson, body: query });
  expect([status, (JSON.parse(body.toString()) as { error: string }).error]).toEqual([
    400,
    "columns must be an array of columns, or an object of names and expressions",
  ]);
});

test("an error repeats a long name in part", async () => {
  const { service } = await aService();
  await send(service.url, { path: "/v1/tables/t", headers: asArrow, body: streamOf({ id: 1 }) });
  const body = JSON.stringify({ alterations: [{ path: "x".repeat(9_000), rename: "y" }] });
  const answer = await send(service.url, { path: "/v1/table/t/alter_columns", headers: asJson, body });
  const { error } = JSON.parse(answer.body.toString()) as { readonly error: string };
  expect(answer.status).toBe(400);
  expect(error).toMatch(/^Column "x+ … x+" does not exist in table 't'$/);
  expect(error.length).toBeLessThan(700);
});

test("an error is one line, also if it repeats a name with line breaks", async () => {
  const { service } = await aService();
  await send(service.url, { path: "/v1/tables/t", headers: asArrow, body: streamOf({ id: 1 }) });
  const path = "/v1/table/t/index/a%0D%0A::error::b/stats";
  const { status, body } = await send(service.url, { path, headers: asJson, body: "{}" });
  expect([status, (JSON.parse(body.toString()) as { error: string }).error]).toEqual([
    404,
    "Index 'a ::error::b' was not found",
  ]);
});

test("Arrow data with fewer columns than its schema is refused in words", async () => {
  const { service } = await aService();
  await send(service.url, { path: "/v1/tables/t", headers: asArrow, body: streamOf({ id: 1, other: 2 }) });
  const [schema] = readMessages(Buffer.from(streamOf({ id: 1, other: 2 })));
  const [, batch] = readMessages(Buffer.from(streamOf({ id: 1 })));
  const stream = Buffer.concat([schema!.bytes, batch!.bytes, endOfStream]);
  const { status, body } = await send(service.url, { path: "/v1/table/t/insert", headers: asArrow, body: stream });
  expect([status, (JSON.parse(body.toString()) as { error: string }).error]).toEqual([
    400,
    "the Arrow data has fewer columns than its schema",
  ]);
});

test("the refusal of a query for constants alone does not print them as the engine does", async () => {
  const { service } = await aService();
  await send(service.url, { path: "/v1/tables/t", headers: asArrow, body: streamOf({ id: 1 }) });
  const query = JSON.stringify({ vector: [], k: 1, columns: { one: "true" } });
  const { status, body } = await send(service.url, { path: "/v1/table/t/query", headers: asJson, body: query });
  expect([status, (JSON.parse(body.toString()) as { error: string }).error]).toEqual([
    400,
    "Not supported: Scans must request at least one column; an expression of constants alone is not enough",
  ]);
});

test.each([
  [
    "a cast of a struct",
    "alter_columns",
    { alterations: [{ path: "source", data_type: { type: "float64" } }] },
    /^Cannot cast column "source" from Struct to Float64$/,
  ],
  [
    "a cast of a vector",
    "alter_columns",
    {
      alterations: [
        {
          path: "vector",
          data_type: {
            type: "fixed_size_list",
            fields: [{ name: "item", type: { type: "float32" }, nullable: true }],
            length: 3,
          },
        },
      ],
    },
    /^Cannot cast column "vector" from FixedSizeList\(Float32, 2\) to FixedSizeList\(Float32, 3\)$/,
  ],
  [
    "a cast to an unknown type",
    "count_rows",
    { predicate: "CAST(id AS nonsense) = 1" },
    /^Unsupported data type\. Supported types: /,
  ],
  ["a list as a number", "count_rows", { predicate: "tags = 1" }, / literal of type 'List\(Utf8\)'$/],
  [
    "a vector as a number",
    "count_rows",
    { predicate: "vector = 1" },
    / literal of type 'FixedSizeList\(Float32, 2\)'$/,
  ],
  [
    "a window function",
    "count_rows",
    { predicate: "row_number() OVER (ORDER BY id) = 1" },
    / a window function such as row_number can't stand here$/,
  ],
  ["a struct as a number", "count_rows", { predicate: "source = 1" }, / literal of type 'Struct'$/],
  [
    "a search in a struct",
    "query",
    { vector: [1], vector_column: "source", k: 1 },
    /^Data type is not a vector .* but Struct$/,
  ],
])("the refusal of %s is a sentence without the debug output of the engine", async (_, path, json, sentence) => {
  const { service, local } = await aService();
  await local.createTable("t", [{ id: 1, source: { lang: "en" }, tags: ["a"], vector: [1, 2] }]);
  const request = { path: `/v1/table/t/${path}`, headers: asJson, body: JSON.stringify(json) };
  const { status, body } = await send(service.url, request);
  const { error } = JSON.parse(body.toString()) as { error: string };
  expect([status, error]).toEqual([400, expect.stringMatching(sentence)]);
});

test("a client that sends a large body after headers that are too large still sees the answer", async () => {
  const { service } = await aService();
  const socket = connect(service.port, "127.0.0.1");
  socket.on("error", () => {});
  // It reads only when it has sent everything, as many clients do.
  socket.pause();
  socket.write(
    `POST /v1/tables/t HTTP/1.1\r\nhost: a\r\ncontent-length: 2000000\r\nlong: ${"x".repeat(40_000)}\r\n\r\n`,
  );
  await sleep(20);
  socket.write(Buffer.alloc(1_000_000));
  await sleep(20);
  socket.write(Buffer.alloc(1_000_000));
  await sleep(20);
  const answer: Buffer[] = [];
  socket.on("data", (bytes) => answer.push(bytes)).resume();
  await once(socket, "close");
  expect(Buffer.concat(answer).toString()).toMatch(/^HTTP\/1.1 431 /);
});

test.each(['{"new_table_name":{"toString":1}}', "null", '{"new_table_name":null}'])(
  "a rename without a name, %s, is refused",
  async (body) => {
    const { service } = await aService();
    await send(service.url, { path: "/v1/tables/t", headers: asArrow, body: streamOf({ id: 1 }) });
    expect((await send(service.url, { path: "/v1/table/t/rename", headers: asJson, body })).status).toBe(400);
  },
);
