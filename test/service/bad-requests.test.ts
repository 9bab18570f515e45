/** Whatever is wrong with a request: a 4xx with a sentence, nothing written, no key in the log, and the service goes on. */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commits, isLong, rounds } from "../support/rounds.ts";
import { hangUp, holdOpen, send, sendBytes, type RawAnswer, type RawRequest } from "./raw.ts";
import { apiKey, arrow, aService, startCommand } from "./served.ts";

const database = "library";
const bodyLimit = 4 * 1024 * 1024;

const arrowType = "application/vnd.apache.arrow.stream";
const authorised = { "x-api-key": apiKey, "x-service-database": database };
const asJson = { ...authorised, "content-type": "application/json" };
const asArrow = { ...authorised, "content-type": arrowType };

const vectorOf = (length: number) =>
  new arrow.FixedSizeList(length, new arrow.Field("item", new arrow.Float32(), true));
const rows = new arrow.Table({
  id: arrow.vectorFromArray([1, 2, 3], new arrow.Int32()),
  title: arrow.vectorFromArray(["a", null, "c"], new arrow.Utf8()),
  v: arrow.vectorFromArray(
    [
      [0, 0],
      [1, 0],
      [0, 2],
    ],
    vectorOf(2),
  ),
});
const stream = arrow.tableToIPC(rows, "stream");
const lengthOfSchema = 8 + new DataView(stream.buffer, stream.byteOffset).getInt32(4, true);

let folder: string;
/** The built command. */
let service: Awaited<ReturnType<typeof startCommand>>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lance-migrate-"));
  const limits = ["--body-limit", String(bodyLimit / 2 ** 20)];
  service = await startCommand(folder, ["--database", database, ...limits]);
  await ok({ path: "/v1/tables/books", headers: asArrow, body: stream });
  await ok(json("/v1/table/books/tags/create/", { tag: "first", version: 1 }));
});

afterAll(async () => {
  expect(await service.close()).toBe(0);
  rmSync(folder, { recursive: true, force: true });
});

async function ok(request: RawRequest): Promise<void> {
  const answer = await send(service.url, request);
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.body.toString()}`);
}

function json(path: string, body: unknown): RawRequest {
  return { path, headers: asJson, body: JSON.stringify(body) };
}

/** Every file with its size and the time of its last change. */
function files(): Readonly<Record<string, readonly number[]>> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    found.map((path) => {
      const { size, mtimeMs } = statSync(path);
      return [path.slice(folder.length), [size, mtimeMs]];
    }),
  );
}

interface Expected {
  readonly status: number | readonly number[];
  /** A part of the sentence. */
  readonly says: RegExp;
  readonly code?: number;
}

/** Runs what is bad and checks that it was refused and left no trace. */
async function refuses(act: () => Promise<RawAnswer>, { status, says, code }: Expected): Promise<void> {
  const before = files();
  const answer = await act();
  const told = { status: answer.status, body: answer.body.toString() };
  expect(told, told.body).toEqual({ status: told.status, body: expect.stringMatching(/^\{.*\}$/s) });
  expect([status].flat(), told.body).toContain(told.status);
  expect(String(answer.headers["content-type"])).toMatch(/^application\/json/);
  const body = JSON.parse(told.body) as { code: unknown; error: unknown };
  expect(body).toMatchObject({ code: code ?? expect.any(Number), error: expect.stringMatching(says) });
  // One sentence for people: no place in a source, no dump of an object, not endless.
  expect(body.error).not.toMatch(/\.rs\b|\.[jt]s:\d|node_modules|\[object |undefined|\n/);
  expect(String(body.error).length).toBeLessThan(600);
  await leavesNoTrace(before);
}

async function leavesNoTrace(before: ReturnType<typeof files>): Promise<void> {
  expect((await send(service.url, { method: "GET", path: "/healthz" })).status).toBe(200);
  expect(files()).toEqual(before);
  expect(service.log.join("")).not.toContain(apiKey);
}

type Case = readonly [string, RawRequest, Expected];

const create = "/v1/table/fresh/create/?mode=create";
const alter = (alterations: unknown): RawRequest => json("/v1/table/books/alter_columns/", { alterations });
const retype = (type: unknown): RawRequest => alter([{ path: "v", data_type: type }]);
const query = (body: object): RawRequest => json("/v1/table/books/query/", { vector: [], k: 10, ...body });
const list = (search: string): RawRequest => ({ method: "GET", path: `/v1/table/${search}`, headers: authorised });
const invalid = (says: RegExp): Expected => ({ status: 400, says });

function deep(levels: number): string {
  return "[".repeat(levels) + "]".repeat(levels);
}

function deepType(levels: number): string {
  const open = '{"type":"list","fields":[{"name":"item","nullable":true,"type":';
  return `${open.repeat(levels)}{"type":"int32"}${"}]}".repeat(levels)}`;
}

const data: readonly Case[] = [
  ["no body", { path: create, headers: asArrow }, invalid(/Arrow/)],
  ["an empty body", { path: create, headers: asArrow, body: Buffer.alloc(0) }, invalid(/Arrow/)],
  ["garbage", { path: create, headers: asArrow, body: "this is no Arrow stream at all" }, invalid(/Arrow/)],
  ["zeros", { path: create, headers: asArrow, body: Buffer.alloc(4096) }, invalid(/Arrow/)],
  ["0xff", { path: create, headers: asArrow, body: Buffer.alloc(4096, 0xff) }, invalid(/Arrow/)],
  ["an end mark alone", { path: create, headers: asArrow, body: stream.subarray(-8) }, invalid(/Arrow/)],
  [
    "a message that says it is 2 GB long",
    { path: create, headers: asArrow, body: Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 2, 3]) },
    invalid(/Arrow/),
  ],
  [
    "a message of negative length",
    { path: create, headers: asArrow, body: Buffer.from([0xff, 0xff, 0xff, 0xff, 0xf0, 0xff, 0xff, 0xff, 1, 2, 3]) },
    invalid(/Arrow/),
  ],
  ["JSON that says it is Arrow", { path: create, headers: asArrow, body: '[{"id":1}]' }, invalid(/Arrow/)],
  ...[1, 4, 7, 8, 9, 40, lengthOfSchema - 8, lengthOfSchema - 1, lengthOfSchema + 1, lengthOfSchema + 8].map(
    (length): Case => [
      `a stream cut after ${length} bytes`,
      { path: create, headers: asArrow, body: stream.subarray(0, length) },
      invalid(/Arrow/),
    ],
  ),
  ...[lengthOfSchema + 64, stream.length - 64, stream.length - 9].map((length): Case => [
    `an insert cut after ${length} bytes`,
    { path: "/v1/table/books/insert/", headers: asArrow, body: stream.subarray(0, length) },
    invalid(/Arrow/),
  ]),
  [
    "an insert of garbage",
    { path: "/v1/table/books/insert/", headers: asArrow, body: "x".repeat(99) },
    invalid(/Arrow/),
  ],
  [
    "an insert of other columns",
    {
      path: "/v1/table/books/insert/",
      headers: asArrow,
      body: arrow.tableToIPC(new arrow.Table({ nope: arrow.vectorFromArray([1], new arrow.Int32()) }), "stream"),
    },
    invalid(/nope/),
  ],
  ...(
    [
      ["a vector of another length", "v", arrow.vectorFromArray([[1, 2, 3]], vectorOf(3)), /\bv\b|FixedSizeList/],
      ["texts where numbers belong", "id", arrow.vectorFromArray(["one"], new arrow.Utf8()), /\bid\b|cast/i],
    ] as const
  ).map(([what, column, values, says]): Case => [
    `an insert of ${what}`,
    {
      path: "/v1/table/books/insert/",
      headers: asArrow,
      body: arrow.tableToIPC(new arrow.Table({ [column]: values } as never), "stream"),
    },
    invalid(says),
  ]),
  [
    "a merge of garbage",
    { path: "/v1/table/books/merge_insert/?on=id&when_not_matched_insert_all=true", headers: asArrow, body: "x" },
    invalid(/Arrow/),
  ],
  [
    "a merge without a key column",
    { path: "/v1/table/books/merge_insert/?when_not_matched_insert_all=true", headers: asArrow, body: stream },
    invalid(/\bon\b/),
  ],
  [
    "a merge on a missing column",
    { path: "/v1/table/books/merge_insert/?on=nope&when_not_matched_insert_all=true", headers: asArrow, body: stream },
    invalid(/nope/),
  ],
  [
    "an Arrow stream that says it is JSON",
    { path: create, headers: asJson, body: stream },
    { status: [400, 415], says: /arrow\.stream|Arrow/ },
  ],
  [
    "an Arrow stream that says it is text",
    { path: create, headers: { ...authorised, "content-type": "text/plain" }, body: stream },
    { status: [400, 415], says: /arrow\.stream|Arrow/ },
  ],
  [
    "an Arrow stream that does not say what it is",
    { path: create, headers: authorised, body: stream },
    { status: [400, 415], says: /arrow\.stream|Arrow/ },
  ],
  [
    "an Arrow stream in gzip",
    { path: create, headers: { ...asArrow, "content-encoding": "gzip" }, body: gzipSync(stream) },
    { status: [400, 415], says: /gzip|encoding/ },
  ],
  [
    "a mode that there is not",
    { path: "/v1/table/fresh/create/?mode=nope", headers: asArrow, body: stream },
    invalid(/mode|nope/),
  ],
  [
    "a name that is taken",
    { path: "/v1/table/books/create/", headers: asArrow, body: stream },
    invalid(/already exists/),
  ],
  [
    "a name that is taken, at the document's route",
    { path: "/v1/tables/books", headers: asArrow, body: stream },
    invalid(/already exists/),
  ],
];

/** Names as they stand in the path. */
const names: readonly (readonly [string, string, Expected])[] = [
  ["no name", "", { status: [400, 404], says: /name|route|there is no|not found/i }],
  ["..", "..", { status: [400, 404], says: /name|route|there is no|not found/i }],
  ["../x", "../x", { status: [400, 404], says: /name|route|there is no|not found/i }],
  ["../x, encoded", "%2e%2e%2fx", invalid(/name/)],
  ["../../x, encoded twice", "%252e%252e%252fx", invalid(/name/)],
  ["..\\x", "..%5cx", invalid(/name/)],
  [".. encoded", "%2e%2e", invalid(/name/)],
  [". encoded", "%2e", invalid(/name/)],
  ["a NUL", "a%00b", invalid(/name/)],
  ["a line break", "a%0ab", invalid(/name/)],
  ["spaces", "a%20b", invalid(/name/)],
  ["a slash, encoded", "a%2fb", invalid(/name/)],
  ["an absolute path", "%2fetc%2fpasswd", invalid(/name/)],
  ["letters that are not ASCII", "gr%C3%B6%C3%9Fe", invalid(/name/)],
  ["bytes that are no UTF-8", "a%ff", invalid(/name|URL|path|encod/i)],
  ["half an escape", "a%2", invalid(/name|URL|path|encod/i)],
  ["300 characters", "x".repeat(300), invalid(/name|long/)],
  ["10,000 characters", "x".repeat(10_000), { status: [400, 414, 431], says: /name|long|large/i }],
  ["our private folder", ".lance-migrate", { status: [400, 404], says: /\.lance-migrate/ }],
  ["a$b", "a$b", { status: 501, says: /namespaces/ }],
];

const authentication: readonly Case[] = [
  [
    "no key",
    { method: "GET", path: "/v1/tables", headers: { "x-service-database": database } },
    { status: 401, code: 16, says: /x-api-key/ },
  ],
  [
    "an empty key",
    { ...list(""), headers: { ...authorised, "x-api-key": "" } },
    { status: 401, code: 16, says: /x-api-key/ },
  ],
  [
    "another key",
    { ...list(""), headers: { ...authorised, "x-api-key": "wrong" } },
    { status: 401, code: 16, says: /key/ },
  ],
  [
    "another key of the same length",
    { ...list(""), headers: { ...authorised, "x-api-key": "x".repeat(apiKey.length) } },
    { status: 401, code: 16, says: /key/ },
  ],
  [
    "a key that is not ASCII",
    { ...list(""), headers: { ...authorised, "x-api-key": "sch\u00fcssel" } },
    { status: 401, code: 16, says: /key/ },
  ],
  [
    "a very long key",
    { ...list(""), headers: { ...authorised, "x-api-key": "k".repeat(8000) } },
    { status: 401, code: 16, says: /key/ },
  ],
  [
    "two keys, one of them right",
    { ...list(""), headers: { ...authorised, "x-api-key": ["wrong", apiKey] } },
    { status: 401, code: 16, says: /key/ },
  ],
  [
    "the key in the query string",
    {
      method: "GET",
      path: `/v1/tables?x-api-key=${apiKey}&api_key=${apiKey}`,
      headers: { "x-service-database": database },
    },
    { status: 401, code: 16, says: /x-api-key/ },
  ],
  [
    "the key in the path",
    { method: "GET", path: `/v1/${apiKey}`, headers: { "x-service-database": database } },
    { status: [401, 404], says: /x-api-key|route|there is no|not found/i },
  ],
  [
    "the key as a table's name and the right key",
    { path: `/v1/table/${apiKey}/describe/`, headers: asJson },
    { status: 404, code: 4, says: /not found|there is no/ },
  ],
  [
    "no key at a route that there is not",
    { method: "GET", path: "/v1/nope", headers: {} },
    { status: [401, 404], says: /x-api-key|route|there is no|not found/i },
  ],
  [
    "no key and a create",
    { path: create, headers: { "content-type": arrowType }, body: stream },
    { status: 401, code: 16, says: /x-api-key/ },
  ],
  ["no database", { ...list(""), headers: { "x-api-key": apiKey } }, invalid(/x-service-database|x-lancedb-database/)],
  [
    "another database",
    { ...list(""), headers: { ...authorised, "x-service-database": "other" } },
    { status: [400, 403, 404], says: /database/ },
  ],
  ["an empty database", { ...list(""), headers: { ...authorised, "x-service-database": "" } }, invalid(/database/)],
  [
    "two databases that differ",
    { ...list(""), headers: { ...authorised, "x-lancedb-database": "other" } },
    { status: [400, 403, 404], says: /database/ },
  ],
];

const routes: readonly Case[] = [
  ["an unknown route", { method: "GET", path: "/nope", headers: authorised }, { status: 404, says: /\/nope/ }],
  ["the root", { method: "GET", path: "/", headers: authorised }, { status: 404, says: /\// }],
  [
    "another version of the API",
    { method: "GET", path: "/v2/tables", headers: authorised },
    { status: 404, code: 0, says: /^there is no route/ },
  ],
  // With 404, LanceDB's clients would report that the table does not exist.
  [
    "an unknown operation",
    json("/v1/table/books/explode/", {}),
    { status: 501, code: 0, says: /^there is no route.*explode/ },
  ],
  [
    "an unknown operation on versions",
    json("/v1/table/books/version/explode", {}),
    { status: 501, code: 0, says: /^there is no route.*explode/ },
  ],
  [
    "an unknown operation, whatever is sent to it",
    { path: "/v1/table/a/b/nope", headers: { ...authorised, "content-type": "text/plain" }, body: "x" },
    { status: 404, code: 0, says: /^there is no route/ },
  ],
  [
    "DELETE on the list",
    { method: "DELETE", path: "/v1/tables", headers: authorised },
    { status: [404, 405], says: /DELETE/ },
  ],
  [
    "GET on a create",
    { method: "GET", path: "/v1/tables/books", headers: authorised },
    { status: [404, 405], says: /GET/ },
  ],
  [
    "PUT on a table",
    { method: "PUT", path: "/v1/tables/books", headers: asArrow, body: stream },
    { status: [404, 405], says: /PUT/ },
  ],
  [
    "GET on an alter",
    { method: "GET", path: "/v1/table/books/alter_columns", headers: authorised },
    { status: [404, 405], says: /GET/ },
  ],
  ["PATCH on an alter", { ...alter([]), method: "PATCH" }, { status: [404, 405], says: /PATCH/ }],
  [
    "a file of the system",
    { method: "GET", path: "/v1/../../../etc/passwd", headers: authorised },
    { status: [400, 404], says: /route|there is no|not found|name/i },
  ],
  ["a query that is no UTF-8", list("?limit=%ff"), invalid(/limit/)],
];

const jsonBodies: readonly Case[] = [
  [
    "no JSON where some is needed",
    { path: "/v1/table/books/alter_columns/", headers: asJson },
    invalid(/JSON|body|alterations/),
  ],
  [
    "half a JSON",
    { path: "/v1/table/books/alter_columns/", headers: asJson, body: '{"alterations": [' },
    invalid(/JSON/),
  ],
  ["no JSON", { path: "/v1/table/books/alter_columns/", headers: asJson, body: "alterations=1" }, invalid(/JSON/)],
  [
    "JSON with a byte that is no UTF-8",
    {
      path: "/v1/table/books/alter_columns/",
      headers: asJson,
      body: Buffer.from('{"alterations":[{"path":"\xff","rename":"x"}]}', "latin1"),
    },
    invalid(/./),
  ],
  [
    "an alteration that says it is Arrow",
    { ...alter([]), headers: asArrow },
    { status: [400, 415], says: /JSON|json/ },
  ],
  [
    "JSON that says it is a form",
    { ...alter([]), headers: { ...authorised, "content-type": "application/x-www-form-urlencoded" } },
    { status: [400, 415], says: /JSON|json/ },
  ],
  [
    "JSON in gzip",
    { ...alter([]), headers: { ...asJson, "content-encoding": "gzip" }, body: gzipSync("{}") },
    { status: [400, 415], says: /gzip|encoding|JSON/ },
  ],
  ...["null", "5", '"x"', "[]", "true"].map((text): Case => [
    `the JSON ${text} where an object is needed`,
    { path: "/v1/table/books/alter_columns/", headers: asJson, body: text },
    invalid(/object|alterations/),
  ]),
  [
    "JSON 100,000 arrays deep",
    { path: "/v1/table/books/alter_columns/", headers: asJson, body: deep(100_000) },
    invalid(/./),
  ],
  [
    "alterations 100,000 arrays deep",
    { path: "/v1/table/books/alter_columns/", headers: asJson, body: `{"alterations":${deep(100_000)}}` },
    invalid(/alterations|deep|JSON/),
  ],
  [
    "a type 10,000 lists deep",
    {
      path: "/v1/table/books/alter_columns/",
      headers: asJson,
      body: `{"alterations":[{"path":"v","data_type":${deepType(10_000)}}]}`,
    },
    invalid(/deep|type|JSON/),
  ],
  [
    "a type 100 lists deep",
    {
      path: "/v1/table/books/alter_columns/",
      headers: asJson,
      body: `{"alterations":[{"path":"v","data_type":${deepType(100)}}]}`,
    },
    invalid(/deep|type|cast/),
  ],
  [
    "a filter 100,000 brackets deep",
    query({ filter: `${"(".repeat(100_000)}true${")".repeat(100_000)}` }),
    invalid(/./),
  ],
  ["a filter of 10,000 negations", query({ filter: `${"NOT ".repeat(10_000)}true` }), invalid(/./)],
  [
    "__proto__ in an alteration",
    {
      path: "/v1/table/books/alter_columns/",
      headers: asJson,
      body: '{"alterations":[{"path":"title","__proto__":{"rename":"x"}}]}',
    },
    invalid(/__proto__|prototype|rename/),
  ],
  [
    "__proto__ as the body",
    {
      path: "/v1/table/books/alter_columns/",
      headers: asJson,
      body: '{"__proto__":{"alterations":[{"path":"title","rename":"x"}]}}',
    },
    invalid(/__proto__|prototype|alterations/),
  ],
  [
    "constructor.prototype in a body",
    { path: "/v1/table/books/alter_columns/", headers: asJson, body: '{"constructor":{"prototype":{"x":1}}}' },
    invalid(/prototype|alterations/),
  ],
];

const alterations: readonly Case[] = [
  ["alterations that are no array", alter({ path: "title", rename: "x" }), invalid(/alterations/)],
  ["an alteration that is a text", alter(["title"]), invalid(/alterations/)],
  ["an alteration that is null", alter([null]), invalid(/alterations/)],
  ["an alteration without a path", alter([{ rename: "x" }]), invalid(/path/)],
  ["a path that is a number", alter([{ path: 5, rename: "x" }]), invalid(/path/)],
  ["an empty path", alter([{ path: "", rename: "x" }]), invalid(/path/)],
  ["a path that ends in a dot", alter([{ path: "title.", rename: "x" }]), invalid(/title\.|path/)],
  ["a path with an open backquote", alter([{ path: "`title", rename: "x" }]), invalid(/`title|path/)],
  ["a rename to null and nothing else", alter([{ path: "title", rename: null }]), invalid(/rename|data_type|nullable/)],
  ["nothing to change", alter([{ path: "title" }]), invalid(/rename|data_type|nullable/)],
  ["a rename to a number", alter([{ path: "title", rename: 5 }]), invalid(/rename/)],
  ["a rename to nothing", alter([{ path: "title", rename: "" }]), invalid(/rename|empty|name/)],
  ["a rename to a name with a dot", alter([{ path: "title", rename: "a.b" }]), invalid(/a\.b|dot|`\.`/)],
  ["a rename to a name that is taken", alter([{ path: "title", rename: "id" }]), invalid(/id/)],
  [
    "two renames to one name",
    alter([
      { path: "title", rename: "x" },
      { path: "id", rename: "x" },
    ]),
    invalid(/x/),
  ],
  ["a rename to a name of the engine's", alter([{ path: "title", rename: "_rowid" }]), invalid(/_rowid/)],
  ["nullable that is a text", alter([{ path: "title", nullable: "yes" }]), invalid(/nullable/)],
  ["nullable that is a number", alter([{ path: "title", nullable: 1 }]), invalid(/nullable/)],
  ["not nullable where there are nulls", alter([{ path: "title", nullable: false }]), invalid(/title.*NULL/i)],
  ["a missing column", alter([{ path: "nope", rename: "x" }]), invalid(/nope/)],
  ["a column in another case", alter([{ path: "Title", rename: "x" }]), invalid(/Column "Title" does not exist/)],
  [
    "one missing column of two",
    alter([
      { path: "title", rename: "x" },
      { path: "nope", rename: "y" },
    ]),
    invalid(/nope/),
  ],
  [
    "a chain of renames",
    alter([
      { path: "title", rename: "x" },
      { path: "x", rename: "y" },
    ]),
    invalid(/x/),
  ],
  [
    "a column retyped and renamed in two entries",
    alter([
      { path: "id", data_type: { type: "int64" } },
      { path: "id", rename: "x" },
    ]),
    invalid(/id/),
  ],
  ["a data type that is a number", retype(5), invalid(/data_type/)],
  ["a data type that is an array", retype([]), invalid(/data_type|type/)],
  ["a data type without a type", retype({}), invalid(/type/)],
  ["an unknown data type", retype({ type: "float4711" }), invalid(/float4711/)],
  ["a list without an item", retype({ type: "list" }), invalid(/list|fields/)],
  [
    "a list of two items",
    retype({
      type: "list",
      fields: [
        { name: "a", type: { type: "int32" } },
        { name: "b", type: { type: "int32" } },
      ],
    }),
    invalid(/list|fields/),
  ],
  [
    "a list of an unknown type",
    retype({ type: "list", fields: [{ name: "item", type: { type: "nope" }, nullable: true }] }),
    invalid(/nope/),
  ],
  ["fields that are no array", retype({ type: "struct", fields: {} }), invalid(/fields/)],
  ...[-1, 0, 1.5, 1e18, 2 ** 31, "2", null].map((length): Case => [
    `a vector of length ${JSON.stringify(length)}`,
    retype({ type: "fixed_size_list", length, fields: [{ name: "item", type: { type: "float" }, nullable: true }] }),
    invalid(/length|cast/),
  ]),
  ["fixed-size binary of length -1", retype({ type: "fixed_size_binary", length: -1 }), invalid(/length/)],
  ["a decimal of 99 digits", retype({ type: "decimal:128:99:2" }), invalid(/decimal|precision|99/)],
  ["a timestamp of an unknown unit", retype({ type: "timestamp:years:-" }), invalid(/timestamp|years/)],
  ["a cast that there is not", alter([{ path: "title", data_type: { type: "int32" } }]), invalid(/title/)],
  [
    "a missing table",
    json("/v1/table/nope/alter_columns/", { alterations: [{ path: "x", rename: "y" }] }),
    { status: 404, code: 4, says: /nope/ },
  ],
];

const operations: readonly Case[] = [
  ["a list of -1", list("?limit=-1"), invalid(/limit/)],
  ["a list of 0", list("?limit=0"), invalid(/limit/)],
  ["a list of many words", list("?limit=all"), invalid(/limit/)],
  ["a query with SQL that ends early", query({ filter: "id >" }), invalid(/id >|SQL|pars|expr/i)],
  ["a query of a missing column", query({ columns: ["nope"] }), invalid(/nope/)],
  ["a query whose filter is a number", query({ filter: 5 }), invalid(/filter/)],
  ["a query with limit -1", query({ k: -1 }), invalid(/\bk\b|limit/)],
  ["a query with limit 1.5", query({ k: 1.5 }), invalid(/\bk\b|limit/)],
  ["a query with offset -1", query({ offset: -1 }), invalid(/offset/)],
  ["a query whose columns are a number", query({ columns: 5 }), invalid(/columns/)],
  ["a query whose vector is a text", query({ vector: "near" }), invalid(/vector/)],
  ["a query whose vector holds texts", query({ vector: ["a", "b"] }), invalid(/vector/)],
  ["a search with a vector of another length", query({ vector: [1, 2, 3] }), invalid(/dim|length|3/)],
  ["a search in a missing column", query({ vector: [1, 2], vector_column: "nope" }), invalid(/nope/)],
  ["a search by an unknown distance", query({ vector: [1, 2], distance_type: "nope" }), invalid(/distance_type|nope/)],
  ["a query filtered by a missing column", query({ filter: "nope = 1" }), invalid(/nope/)],
  [
    "a query ordered by a missing column",
    query({ order_by: [{ column_name: "nope", ascending: true }] }),
    invalid(/nope/),
  ],
  ["a query of version 99", query({ version: 99 }), { status: [400, 404], says: /99/ }],
  ["a query of version -1", query({ version: -1 }), invalid(/version/)],
  ["a query of version one", query({ version: "one" }), invalid(/version/)],
  ["a count with bad SQL", json("/v1/table/books/count_rows/", { predicate: "id >" }), invalid(/./)],
  ["a count over a missing column", json("/v1/table/books/count_rows/", { predicate: "nope = 1" }), invalid(/nope/)],
  ["a count whose predicate is a number", json("/v1/table/books/count_rows/", { predicate: 5 }), invalid(/predicate/)],
  ["a delete without a predicate", json("/v1/table/books/delete/", {}), invalid(/predicate/)],
  ["a delete with an empty predicate", json("/v1/table/books/delete/", { predicate: "" }), invalid(/predicate/)],
  ["a delete with bad SQL", json("/v1/table/books/delete/", { predicate: "id = = 1" }), invalid(/./)],
  ["a delete over a missing column", json("/v1/table/books/delete/", { predicate: "nope = 1" }), invalid(/nope/)],
  ["an update without updates", json("/v1/table/books/update/", { predicate: "true" }), invalid(/updates/)],
  ["an update of nothing", json("/v1/table/books/update/", { predicate: "true", updates: [] }), invalid(/updates/)],
  ["an update that is an object", json("/v1/table/books/update/", { updates: { title: "'x'" } }), invalid(/updates/)],
  ["an update of a missing column", json("/v1/table/books/update/", { updates: [["nope", "1"]] }), invalid(/nope/)],
  [
    "an update with a bad predicate",
    json("/v1/table/books/update/", { predicate: "id >", updates: [["id", "1"]] }),
    invalid(/the SQL can't be read: Expected: an expression/),
  ],
  ["an update by bad SQL", json("/v1/table/books/update/", { updates: [["title", "'"]] }), invalid(/./)],
  [
    "columns added without an expression",
    json("/v1/table/books/add_columns/", { new_columns: [{ name: "x" }] }),
    invalid(/expression|new_columns/),
  ],
  [
    "columns added by bad SQL",
    json("/v1/table/books/add_columns/", { new_columns: [{ name: "x", expression: "id +" }] }),
    invalid(/./),
  ],
  [
    "columns added from a missing column",
    json("/v1/table/books/add_columns/", { new_columns: [{ name: "x", expression: "nope" }] }),
    invalid(/nope/),
  ],
  [
    "a column added under a name that is taken",
    json("/v1/table/books/add_columns/", { new_columns: [{ name: "id", expression: "1" }] }),
    invalid(/id/),
  ],
  ["no columns to add", json("/v1/table/books/add_columns/", {}), invalid(/new_columns/)],
  ["a missing column dropped", json("/v1/table/books/drop_columns/", { columns: ["nope"] }), invalid(/nope/)],
  [
    "all columns dropped",
    json("/v1/table/books/drop_columns/", { columns: ["id", "title", "v"] }),
    invalid(/all|column/),
  ],
  ["columns dropped that are no array", json("/v1/table/books/drop_columns/", { columns: "id" }), invalid(/columns/)],
  ["version 99 described", json("/v1/table/books/describe/", { version: 99 }), { status: [400, 404], says: /99/ }],
  ["version 99 restored", json("/v1/table/books/restore/", { version: 99 }), { status: [400, 404], says: /99/ }],
  ["no version restored", json("/v1/table/books/restore/", {}), invalid(/version/)],
  ["version 0 restored", json("/v1/table/books/restore/", { version: 0 }), { status: [400, 404], says: /version/i }],
  [
    "a tag that is not there",
    json("/v1/table/books/tags/version/", { tag: "nope" }),
    { status: [400, 404], says: /nope/ },
  ],
  [
    "a tag that is there created",
    json("/v1/table/books/tags/create/", { tag: "first", version: 1 }),
    { status: [400, 409], says: /already exists/ },
  ],
  [
    "a tag of version 99",
    json("/v1/table/books/tags/create/", { tag: "x", version: 99 }),
    { status: [400, 404], code: 11, says: /99/ },
  ],
  [
    "a tag that is not there moved",
    json("/v1/table/books/tags/update/", { tag: "nope", version: 1 }),
    { status: [400, 404], says: /nope/ },
  ],
  [
    "a tag moved to version 99",
    json("/v1/table/books/tags/update/", { tag: "first", version: 99 }),
    { status: [400, 404], says: /99/ },
  ],
  [
    "a tag called ../x",
    json("/v1/table/books/tags/create/", { tag: "../x", version: 1 }),
    invalid(/tag|alphanumeric|\.\.\/x/i),
  ],
  ["a tag without a name", json("/v1/table/books/tags/create/", { version: 1 }), invalid(/tag/)],
  [
    "a tag that is not there deleted",
    json("/v1/table/books/tags/delete/", { tag: "nope" }),
    { status: [400, 404], says: /nope/ },
  ],
  ["a missing table dropped", json("/v1/table/nope/drop/", {}), { status: 404, code: 4, says: /nope/ }],
  ["a missing table described", json("/v1/table/nope/describe/", {}), { status: 404, code: 4, says: /nope/ }],
  [
    "a missing table queried",
    json("/v1/table/nope/query/", { vector: [], k: 1 }),
    { status: 404, code: 4, says: /nope/ },
  ],
  [
    "an insert into a missing table",
    { path: "/v1/table/nope/insert/", headers: asArrow, body: stream },
    { status: 404, code: 4, says: /nope/ },
  ],
];

const framing: readonly (readonly [string, string, Expected])[] = [
  ["no HTTP", "GARBAGE\r\n\r\n", invalid(/HTTP/)],
  ["the beginning of TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", invalid(/HTTP/)],
  ["an unknown method", "FROBNICATE /v1/tables HTTP/1.1\r\nhost: x\r\n\r\n", invalid(/HTTP|method/i)],
  ["a version of HTTP that there is not", "GET /v1/tables HTTP/9.9\r\nhost: x\r\n\r\n", invalid(/HTTP/)],
  ["no host", "GET /v1/tables HTTP/1.1\r\n\r\n", invalid(/HTTP|host/i)],
  ["a header without a colon", "GET /v1/tables HTTP/1.1\r\nhost: x\r\nnonsense\r\n\r\n", invalid(/HTTP/)],
  ["a NUL in a header", "GET /v1/tables HTTP/1.1\r\nhost: x\r\nx-api-key: a\0b\r\n\r\n", invalid(/HTTP/)],
  [
    "a length that is no number",
    "POST /v1/tables/x HTTP/1.1\r\nhost: x\r\ncontent-length: many\r\n\r\n",
    invalid(/HTTP/),
  ],
  ["a negative length", "POST /v1/tables/x HTTP/1.1\r\nhost: x\r\ncontent-length: -5\r\n\r\n", invalid(/HTTP/)],
  [
    "a length and chunks",
    "POST /v1/tables/x HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    invalid(/HTTP/),
  ],
  [
    "a chunk whose size is no number",
    `POST ${create} HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\nx-service-database: ${database}\r\n` +
      `content-type: ${arrowType}\r\ntransfer-encoding: chunked\r\n\r\nzzz\r\n`,
    invalid(/HTTP|body|Arrow/),
  ],
  [
    "headers of 100 kB",
    `GET /v1/tables HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\nx-big: ${"x".repeat(100_000)}\r\n\r\n`,
    { status: 431, says: /header/i },
  ],
  [
    "5,000 headers",
    `GET /v1/tables HTTP/1.1\r\nhost: x\r\n${Array.from({ length: 5000 }, (_, n) => `x-${n}: y\r\n`).join("")}\r\n`,
    { status: 431, says: /header/i },
  ],
];

describe("a bad request", () => {
  test.each([...data, ...authentication, ...routes, ...jsonBodies, ...alterations, ...operations])(
    "with %s is refused in a sentence and leaves no trace",
    async (_, request, expected) => await refuses(async () => await send(service.url, request), expected),
  );

  describe.each(names)("with the name %s", (_, name, expected) => {
    test.each<readonly [string, RawRequest]>([
      ["created", { path: `/v1/table/${name}/create/`, headers: asArrow, body: stream }],
      ["created at the document's route", { path: `/v1/tables/${name}`, headers: asArrow, body: stream }],
      ["altered", json(`/v1/table/${name}/alter_columns`, { alterations: [{ path: "a", rename: "b" }] })],
      ["described", json(`/v1/table/${name}/describe/`, {})],
      ["dropped", json(`/v1/table/${name}/drop/`, {})],
    ])("%s is refused in a sentence and leaves no trace", async (_verb, request) => {
      await refuses(async () => await send(service.url, request), expected);
    });
  });

  test.each(framing)("with %s is refused in a sentence and leaves no trace", async (_, bytes, expected) =>
    refuses(async () => await sendBytes(service.url, Buffer.from(bytes, "latin1")), expected),
  );
});

describe("a body of 1 GB", () => {
  const gigabyte = 1_000_000_000;
  const uploads: readonly (readonly [string, string, Readonly<Record<string, string>>])[] = [
    ["an Arrow stream that says its length", create, { ...asArrow, "content-length": String(gigabyte) }],
    ["an Arrow stream in chunks", create, asArrow],
    ["rows that say their length", "/v1/table/books/insert/", { ...asArrow, "content-length": String(gigabyte) }],
    ["rows in chunks", "/v1/table/books/insert/", asArrow],
    ["JSON that says its length", "/v1/table/books/alter_columns/", { ...asJson, "content-length": String(gigabyte) }],
    ["JSON in chunks", "/v1/table/books/alter_columns/", asJson],
  ];

  test.each(uploads)("%s is refused long before it is sent, and leaves no trace", async (_, path, headers) => {
    let sent = 0;
    // Begins as a stream should, so that its length is all that is wrong with it.
    function* body() {
      yield stream.subarray(0, lengthOfSchema);
      for (sent = lengthOfSchema; sent < gigabyte; sent += block.length) yield block.subarray(0, gigabyte - sent);
    }
    const block = Buffer.alloc(64 * 1024, " ");
    await refuses(async () => await send(service.url, { path, headers, body: body() }), {
      status: 413,
      says: /bytes|MB|MiB|large/,
    });
    expect(sent).toBeLessThan(bodyLimit + 64 * 1024 * 1024);
  });

  test("without a key it is refused for the key, before it is read", async () => {
    let sent = 0;
    const block = Buffer.alloc(64 * 1024);
    function* body() {
      for (; sent < gigabyte; sent += block.length) yield block;
    }
    await refuses(
      async () => await send(service.url, { path: create, headers: { "content-type": arrowType }, body: body() }),
      { status: 401, says: /x-api-key/ },
    );
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  test("a body of exactly the limit is judged by what it says", async () => {
    const [open, close] = ['{"alterations":[{"path":"nope","rename":"x"}]', "}"];
    const padded = (length: number) => open + " ".repeat(length - open.length - close.length) + close;
    const at = (length: number) => async () =>
      await send(service.url, { path: "/v1/table/books/alter_columns/", headers: asJson, body: padded(length) });
    await refuses(at(bodyLimit), invalid(/nope/));
    await refuses(at(bodyLimit + 1), { status: 413, says: /bytes|MB|MiB|large/ });
  });
});

describe("a client that goes away", () => {
  const head = (path: string, type: string, more: string) =>
    `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\nx-service-database: ${database}\r\n` +
    `content-type: ${type}\r\n${more}\r\n\r\n`;
  const half = Buffer.from(stream.subarray(0, stream.length / 2));
  const length = `content-length: ${stream.length}`;

  test.each([
    ["before it has said anything", ""],
    ["in the middle of its headers", head(create, arrowType, length).slice(0, 60)],
    ["before its body", head(create, arrowType, length)],
    ["in the middle of an Arrow stream", Buffer.concat([Buffer.from(head(create, arrowType, length)), half])],
    ["in the middle of rows", Buffer.concat([Buffer.from(head("/v1/table/books/insert/", arrowType, length)), half])],
    [
      "in the middle of a chunk",
      Buffer.concat([
        Buffer.from(head("/v1/table/books/insert/", arrowType, "transfer-encoding: chunked")),
        Buffer.from(`${stream.length.toString(16)}\r\n`),
        half,
      ]),
    ],
    [
      "between two chunks of a stream that is whole but for its end",
      Buffer.concat([
        Buffer.from(head("/v1/table/books/insert/", arrowType, "transfer-encoding: chunked")),
        Buffer.from(`${stream.length.toString(16)}\r\n`),
        stream,
        Buffer.from("\r\n"),
      ]),
    ],
    ["in the middle of JSON", `${head("/v1/table/books/drop/", "application/json", "content-length: 9")}{"a"`],
    [
      "before the answer to its query",
      `${head("/v1/table/books/query/", "application/json", "content-length: 22")}{"vector":[],"k":10    }`,
    ],
  ])("%s leaves no trace", async (_, bytes) => {
    const before = files();
    for (let turn = 0; turn < rounds(4, 10); turn++) await hangUp(service.url, bytes);
    // Whatever those left to be done stands in line before this.
    await refuses(async () => await send(service.url, alter([{ path: "nope", rename: "x" }])), invalid(/nope/));
    await leavesNoTrace(before);
  });
});

test("two hundred connections that stop in the middle of a request keep nobody out", async () => {
  const idle = Array.from({ length: 200 }, () => holdOpen(service.url, "GET /v1/tables HTTP/1.1\r\nhost: x\r\nx-"));
  await ok(list(""));
  for (const socket of idle) socket.destroy();
});

test("an Arrow file where a stream is expected is refused by name, and nothing is stored", async () => {
  const { service: own, remote } = await aService();
  const answer = await send(own.url, {
    path: "/v1/tables/filed",
    headers: { "x-api-key": apiKey, "content-type": arrowType },
    body: arrow.tableToIPC(rows, "file"),
  });
  expect([answer.status, answer.body.toString(), await remote.tableNames()]).toEqual([
    400,
    expect.stringContaining("the Arrow data is an Arrow IPC file; send it as a stream"),
    [],
  ]);
});

const second = "true; DROP TABLE books";
const merge = "/v1/table/books/merge_insert/?on=id";
const merging = (parameters: string): RawRequest => ({
  path: `${merge}&${parameters}=${encodeURIComponent(second)}`,
  headers: asArrow,
  body: stream,
});

test.each<[string, RawRequest, string]>([
  ["the filter of a query", query({ filter: second }), "filter"],
  ["a column of a query", query({ columns: { x: second } }), "columns"],
  ["an alias of a query", query({ columns: { column_aliases: { x: second } } }), "columns"],
  ["the predicate of a count", json("/v1/table/books/count_rows/", { predicate: second }), "predicate"],
  ["the filter of a count", json("/v1/table/books/count_rows/", { filter: second }), "filter"],
  ["the predicate of a delete", json("/v1/table/books/delete/", { predicate: second }), "predicate"],
  [
    "the predicate of an update",
    json("/v1/table/books/update/", { predicate: second, updates: [["title", "'x'"]] }),
    "predicate",
  ],
  ["a value of an update", json("/v1/table/books/update/", { updates: [["title", "'x'; y"]] }), "updates.0.1"],
  [
    "the expression of a column",
    json("/v1/table/books/add_columns/", { new_columns: [{ name: "x", expression: "1; y" }] }),
    "new_columns.0.expression",
  ],
  [
    "what a merge updates",
    merging("when_matched_update_all=true&when_matched_update_all_filt"),
    "when_matched_update_all_filt",
  ],
  [
    "what a merge deletes",
    merging("when_not_matched_by_source_delete=true&when_not_matched_by_source_delete_filt"),
    "when_not_matched_by_source_delete_filt",
  ],
])("%s can't hold a second statement, which the engine would ignore silently", async (_, sent, place) => {
  const says = new RegExp(`${place} must be one expression; the engine would ignore what follows the semicolon`);
  await refuses(async () => await send(service.url, sent), invalid(says));
});

test("a semicolon inside quotes, in a comment or at the end is no second statement", async () => {
  for (const predicate of [
    "coalesce(title, '') <> 'a; b'",
    "coalesce(title, '') <> 'it''s; b'",
    "true /* ; x */ -- ; y",
    "true;",
  ]) {
    const { status, body } = await send(service.url, json("/v1/table/books/count_rows/", { predicate }));
    expect([status, body.toString()], predicate).toEqual([200, "3"]);
  }
});

test("a stream without its end mark is whole, because HTTP says where the body ends", async () => {
  const { service: own, remote } = await aService();
  const answer = await send(own.url, {
    path: "/v1/tables/open",
    headers: { "x-api-key": apiKey, "content-type": arrowType },
    body: stream.subarray(0, -8),
  });
  expect([answer.status, await (await remote.openTable("open")).countRows()]).toEqual([200, 3]);
});

test("whichever byte of a stream is wrong, the answer is no 5xx and the service lives on", async () => {
  const { service: own, remote } = await aService();
  const answers: Record<number, number> = {};
  // For each commit every fourth byte, for the next commit others.
  for (let at = isLong ? 0 : commits() % 4; at < stream.length; at += rounds(4, 1)) {
    const body = Uint8Array.from(stream);
    body[at] = body[at]! ^ 0xff;
    const before = process.cpuUsage();
    const answer = await send(own.url, {
      path: "/v1/table/t/create/?mode=overwrite",
      headers: { "x-api-key": apiKey, "content-type": arrowType },
      body,
    });
    expect([200, 400], `byte ${at}: ${answer.body.toString()}`).toContain(answer.status);
    // A kilobyte that says it holds millions of things must not keep everybody waiting. The service is in this process.
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1e6, `byte ${at}`).toBeLessThan(5);
    answers[answer.status] = (answers[answer.status] ?? 0) + 1;
    if (answer.status !== 200) continue;
    // What was accepted must be readable.
    const read = await send(own.url, {
      path: "/v1/table/t/query/",
      headers: { "x-api-key": apiKey, "content-type": "application/json" },
      body: JSON.stringify({ vector: [], k: 10 }),
    });
    expect(read.status, `byte ${at}: ${read.body.toString()}`).toBe(200);
  }
  expect(Math.min(answers[400] ?? 0, answers[200] ?? 0)).toBeGreaterThan(0);
  expect(await remote.tableNames()).toEqual(["t"]);
});
