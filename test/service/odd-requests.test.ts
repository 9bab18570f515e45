/** Requests that the fuzzer (test/fuzz) found to be answered badly. */
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { endOfStream, readMessages } from "../../src/wire/arrow/ipc-messages.ts";
import { temporaryFolderOfFile } from "../support/project.ts";
import { lancedb } from "../support/tables.ts";
import { apiKey, arrow, startIn } from "./served.ts";
import { send, type RawRequest } from "./raw.ts";

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

const folder = temporaryFolderOfFile();
let service: Awaited<ReturnType<typeof startIn>>["service"];

beforeAll(async () => {
  ({ service } = await startIn(folder));
  const local = await lancedb.connect(folder);
  await local.createTable("rich", [{ id: 1, source: { lang: "en" }, tags: ["a"], vector: [1, 2] }]);
  local.close();
  for (const [name, columns] of [
    ["t", { id: 1 }],
    ["two", { id: 1, other: 2 }],
  ] as const)
    await send(service.url, { path: `/v1/tables/${name}`, headers: asArrow, body: streamOf(columns) });
});
afterAll(() => service.close());

const json = (path: string, body: unknown): RawRequest => ({
  path: `/v1/table/${path}`,
  headers: asJson,
  body: JSON.stringify(body),
});
const stream = (path: string, body: Uint8Array): RawRequest => ({ path: `/v1/table/${path}`, headers: asArrow, body });
const query = (body: object) => json("t/query", { vector: [], k: 1, ...body });
const count = (predicate: string) => json("rich/count_rows", { predicate });
const retype = (path: string, data_type: object) => json("rich/alter_columns", { alterations: [{ path, data_type }] });

const noText = Buffer.from(streamOf({ nameOfColumn: 1 }));
noText[noText.indexOf("nameOfColumn") + 3] = 0xff;
const [schemaOfTwo] = readMessages(Buffer.from(streamOf({ id: 1, other: 2 })));
const [, rowsOfOne] = readMessages(Buffer.from(streamOf({ id: 1 })));
const float = { name: "item", type: { type: "float32" }, nullable: true };

test.each<[what: string, request: RawRequest, sentence: RegExp]>([
  [
    "a merge with other columns",
    stream("t/merge_insert?on=id&when_not_matched_insert_all=true", streamOf({ id: 1, other: 2 })),
    /^Append with different schema: fields did not match, missing=\[\], unexpected=\[other\]$/,
  ],
  ["a vector column that does not exist", query({ vector: [1, 2], vector_column: "v" }), /^column v does not exist$/],
  [
    "a column's name that is not UTF-8",
    stream("t/insert", noText),
    /^a text in the schema of the Arrow data is not UTF-8$/,
  ],
  [
    "a field that is missing inside a list",
    query({ order_by: [{}] }),
    /^order_by\.0\.column_name must be of type string$/,
  ],
  ...[{ id: {} }, { id: null }, { id: 1 }].map((columns): [string, RawRequest, RegExp] => [
    `the columns ${JSON.stringify(columns)}`,
    query({ columns }),
    /^columns must be an array of columns, or an object of names and expressions$/,
  ]),
  [
    "a long name, which is repeated in part",
    json("t/alter_columns", { alterations: [{ path: "x".repeat(9_000), rename: "y" }] }),
    /^Column "x{1,600} … x{1,600}" does not exist in table 't'$/,
  ],
  [
    "Arrow data with fewer columns than its schema",
    stream("two/insert", Buffer.concat([schemaOfTwo!.bytes, rowsOfOne!.bytes, endOfStream])),
    /^the Arrow data has fewer columns than its schema$/,
  ],
  [
    "a query for constants alone",
    query({ columns: { one: "true" } }),
    /^Not supported: Scans must request at least one column; an expression of constants alone is not enough$/,
  ],
  ["a cast of a struct", retype("source", { type: "float64" }), /^Cannot cast column "source" from Struct to Float64$/],
  [
    "a cast of a vector",
    retype("vector", { type: "fixed_size_list", fields: [float], length: 3 }),
    /^Cannot cast column "vector" from FixedSizeList\(Float32, 2\) to FixedSizeList\(Float32, 3\)$/,
  ],
  ["a cast to an unknown type", count("CAST(id AS nonsense) = 1"), /^Unsupported data type\. Supported types: /],
  ["a list as a number", count("tags = 1"), / literal of type 'List\(Utf8\)'$/],
  ["a vector as a number", count("vector = 1"), / literal of type 'FixedSizeList\(Float32, 2\)'$/],
  [
    "a window function",
    count("row_number() OVER (ORDER BY id) = 1"),
    / a window function such as row_number can't stand here$/,
  ],
  ["a struct as a number", count("source = 1"), / literal of type 'Struct'$/],
  [
    "a search in a struct",
    json("rich/query", { vector: [1], vector_column: "source", k: 1 }),
    /^Data type is not a vector .* but Struct$/,
  ],
  ...[{ new_table_name: { toString: 1 } }, null, { new_table_name: null }].map((body): [string, RawRequest, RegExp] => [
    `a rename to ${JSON.stringify(body)}`,
    json("t/rename", body),
    /./,
  ]),
])("the refusal of %s is a sentence without what the engine or the validator prints", async (_, request, sentence) => {
  const { status, body } = await send(service.url, request);
  const { error } = JSON.parse(body.toString()) as { error: string };
  expect([status, error]).toEqual([400, expect.stringMatching(sentence)]);
});

test("an expectation that the service cannot meet is refused with an error as any other", async () => {
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

test.each([
  ["x".repeat(210), true],
  ["x".repeat(211), false],
  ["x".repeat(240), false],
  ["\u00fc".repeat(21), true],
  ["\u00fc".repeat(22), false],
  ["\u4e2d".repeat(14), true],
  ["\u4e2d".repeat(15), false],
])("a tag is created, or refused because of its length: %s", async (tag, fits) => {
  const words = fits ? /^\{/ : /"error":"tag must not be longer than 210 characters/;
  for (const request of [json("t/tags/create", { tag, version: 1 }), json("t/describe", { tag })]) {
    const answer = await send(service.url, request);
    expect([answer.status, answer.body.toString()]).toEqual([fits ? 200 : 400, expect.stringMatching(words)]);
  }
});

test("an error is one line, also if it repeats a name with line breaks", async () => {
  const { status, body } = await send(service.url, json("t/index/a%0D%0A::error::b/stats", {}));
  expect([status, (JSON.parse(body.toString()) as { error: string }).error]).toEqual([
    404,
    "Index 'a ::error::b' was not found",
  ]);
});

test("a client that sends a large body after headers that are too large still sees the answer", async () => {
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

test("a table whose rows the engine keeps in a log can be read, and is not written", async () => {
  const local = await lancedb.connect(folder, { readConsistencyInterval: 0 });
  const fields = [new arrow.Field("id", new arrow.Utf8(), false), new arrow.Field("n", new arrow.Float64(), true)];
  const table = await local.createEmptyTable("logged", new arrow.Schema(fields));
  await table.add([{ id: "a", n: 1 }]);
  await table.setUnenforcedPrimaryKey("id");
  await table.setLsmWriteSpec({ specType: "unsharded" });
  await table
    .mergeInsert("id")
    .whenMatchedUpdateAll()
    .whenNotMatchedInsertAll()
    .execute([{ id: "b", n: 2 }]);
  await table.closeLsmWriters();
  const writes: readonly RawRequest[] = [
    json("logged/add_columns", { new_columns: [{ name: "k", expression: "n" }] }),
    json("logged/alter_columns", { alterations: [{ path: "n", rename: "k" }] }),
    json("logged/update", { updates: [["n", "7"]] }),
    json("logged/delete", { predicate: "n = 2" }),
  ];
  for (const one of writes)
    expect(String((await send(service.url, one)).body)).toMatch(
      /does not write to table 'logged', whose rows the engine/,
    );
  expect(await (await local.openTable("logged")).query().toArray()).toHaveLength(2);
  expect(await send(service.url, json("logged/query", { vector: [], k: 5 }))).toMatchObject({ status: 200 });
  local.close();
});
