/** A field that a route does not know is refused: if a misspelt filter were ignored, every row would be changed. */
import { beforeEach, expect, test } from "vitest";
import { toIpcStream } from "../../src/wire/arrow/arrow-schema.ts";
import { rowsToIpc } from "../../src/wire/rows/write-rows.ts";
import type { Column } from "../../src/schema/data-type.ts";
import { aService, apiKey, arrow as arrowOfClient, type Served } from "./served.ts";

const columns: readonly Column[] = [{ name: "id", type: { kind: "int32" }, nullable: true }];
const stream = rowsToIpc(columns, [{ id: 1 }, { id: 2 }, { id: 3 }]);

let served: Served;

beforeEach(async () => {
  served = await aService();
  expect(await arrow("tables/t")).toEqual([200, expect.anything()]);
});

async function ask(path: string, body: string | Uint8Array, type: string): Promise<readonly [number, unknown]> {
  const headers = { "x-api-key": apiKey, "content-type": type };
  const answer = await fetch(`${served.service.url}/v1/${path}`, { method: "POST", headers, body: body as string });
  const text = await answer.text();
  const error = answer.ok ? text : (JSON.parse(text) as { readonly error: string }).error;
  return [answer.status, error];
}

const json = (path: string, body: unknown) => ask(`table/t/${path}`, JSON.stringify(body), "application/json");
const arrow = (path: string, body: Uint8Array = stream) => ask(path, body, "application/vnd.apache.arrow.stream");
const ids = async () => {
  const found = await (await served.local.openTable("t")).query().select(["id"]).toArray();
  return found.map(({ id }) => Number(id)).toSorted((one, other) => one - other);
};

test.each<[path: string, body: object, sentence: string]>([
  [
    "update",
    { updates: [["id", "id + 1"]], where: "id = 2" },
    'there is no field "where"; known are predicate and updates',
  ],
  [
    "update",
    { updates: [["id", "id + 1"]], predicat: "id = 2" },
    'there is no field "predicat"; did you mean "predicate"?',
  ],
  ["delete", { filter: "id = 2" }, 'there is no field "filter"; known is predicate'],
  ["delete", { predicate: "id > 0", where: "id = 2" }, 'there is no field "where"; known is predicate'],
  ["count_rows", { where: "id = 2" }, 'there is no field "where"; known are predicate, filter, version and tag'],
  ["explain_plan", { filter: "id = 2" }, 'there is no field "filter"; known are query and verbose'],
  ["explain_plan", { query: { filtr: "id = 2" } }, 'there is no field "query.filtr"; did you mean "filter"?'],
  ["analyze_plan", { filters: "id = 2" }, 'there is no field "filters"; did you mean "filter"?'],
  [
    "query",
    { where: "id = 2" },
    expect.stringMatching(/^there is no field "where"; known are .*filter.* and bypass_vector_index$/),
  ],
  ["describe", { versions: 1 }, 'there is no field "versions"; did you mean "version"?'],
  ["drop", { version: 1 }, 'there is no field "version"; the route has none of its own'],
])("%s with %j is refused and changes nothing", async (path, body, sentence) => {
  expect(await json(path, body)).toEqual([400, sentence]);
  expect(await ids()).toEqual([1, 2, 3]);
});

test.each<[path: string, sentence: string]>([
  ["table/t/insert?mod=overwrite", 'there is no parameter "mod"; did you mean "mode"?'],
  ["table/t/create?mod=exist_ok", 'there is no parameter "mod"; did you mean "mode"?'],
  ["tables/t?overwrite=true", 'there is no parameter "overwrite"; known is mode'],
  [
    "table/t/merge_insert?on=id&when_not_matched_by_source_delete=true&when_not_matched_by_source_delete_filter=false",
    'there is no parameter "when_not_matched_by_source_delete_filter"; did you mean "when_not_matched_by_source_delete_filt"?',
  ],
])("POST %s is refused and changes nothing", async (path, sentence) => {
  expect(await arrow(path)).toEqual([400, sentence]);
  expect(await ids()).toEqual([1, 2, 3]);
});

const common = { id: ["t"], identity: { api_key: "k", auth_token: "a" }, context: { a: "b" }, branch: null };

test.each<[path: string, body: object]>([
  ["describe", { with_table_uri: true, load_detailed_metadata: true, check_declared: true, vend_credentials: false }],
  ["exists", { version: 1 }],
  ["count_rows", { version: 1, predicate: "id > 1" }],
  ["update", { predicate: "id > 1", updates: [["id", "id"]], properties: {} }],
  ["query", { k: 1, vector: [], use_lsm: true, approx_mode: "normal" }],
  ["explain_plan", { query: { ...common, k: 1, vector: [] }, verbose: true }],
  ["tags/list", { limit: 1, page_token: "a" }],
  ["version/list", { limit: 1, page_token: "1", descending: true }],
  ["index/list", { version: 1, limit: 1, page_token: "a" }],
  ["rename", { new_table_name: "u", new_namespace_id: [], new_namespace: [] }],
])("%s takes what clients send: %j", async (path, body) => {
  expect(await json(path, { ...common, ...body })).toEqual([200, expect.anything()]);
});

test.each<[path: string, body: object, sentence: string]>([
  ["exists", { version: 9 }, "Table 't' has no version 9"],
  ["rename", { new_table_name: "u", new_namespace_id: ["n"] }, "this service has no namespaces"],
  ["rename", { new_table_name: "u", new_namespace: ["n"] }, "this service has no namespaces"],
  ["update", { updates: [["id", "1"]], properties: { a: "b" } }, "this service has no properties of tables"],
  ["query", { k: 1, vector: [], approx_mode: "fast" }, "this service has no modes of approximation"],
  ["explain_plan", { query: { branch: "b" } }, "this service has no branches"],
  ["count_rows", { branch: "b" }, "this service has no branches"],
  [
    "create_index",
    { column: "id", index_type: "IVF_FLAT", target_partition_size: 100 },
    "this service has no indexes with target_partition_size",
  ],
  [
    "create_index",
    { column: "id", index_type: "FTS", split_identifiers: true },
    "this service has no indexes with split_identifiers",
  ],
  ["index/id_idx/drop", { index_name: "other" }, "the index_name in the body is not that of the path, id_idx"],
  ["create_index", { column: "id", index_type: "BTREE", distance: "l2" }, expect.stringMatching(/^there is no field/)],
  ["create_index", { column: "id", index_type: "BTREE", num_bits: 8 }, "an index of type BTREE has no num_bits"],
  [
    "create_index",
    { column: "id", index_type: "FTS", base_tokenizer: "lindera/../../etc" },
    "this service has no tokenizers with models, such as lindera/../../etc",
  ],
  [
    "create_index",
    { column: "id", index_type: "FTS", language: "constructor" },
    expect.stringMatching(/^language must/),
  ],
  ...[2 ** 32 + 1, 1.5, -1, 0, "2"].map((num_partitions): [string, object, string] => [
    "create_index",
    { column: "id", index_type: "IVF_FLAT", num_partitions },
    expect.stringMatching(/^num_partitions must (be a whole number from 1|not be larger than 4294967295)$/) as string,
  ]),
  [
    "alter_columns",
    { alterations: [{ path: "id", renmae: "key" }] },
    'there is no field "alterations.0.renmae"; did you mean "rename"?',
  ],
  [
    "alter_columns",
    { alterations: [{ path: "id", dataType: { type: "int64" } }] },
    'there is no field "alterations.0.dataType"; did you mean "data_type"?',
  ],
  [
    "alter_columns",
    { alterations: [{ path: "id", data_type: { type: "list", feilds: [] } }] },
    'there is no field "alterations.0.data_type.feilds"; did you mean "fields"?',
  ],
  [
    "add_columns",
    { new_columns: [{ name: "a", expresion: "1" }] },
    'there is no field "new_columns.0.expresion"; did you mean "expression"?',
  ],
  [
    "update_field_metadata",
    { updates: [{ path: "id", metadata: {}, repalce: true }] },
    'there is no field "updates.0.repalce"; did you mean "replace"?',
  ],
  [
    "query",
    { k: 1, vector: [], order_by: [{ column_name: "id", asc: false }] },
    'there is no field "order_by.0.asc"; known are column_name, ascending and nulls_first',
  ],
  [
    "query",
    { k: 1, vector: { single_vectro: [1] } },
    'there is no field "vector.single_vectro"; did you mean "single_vector"?',
  ],
])("what would change the meaning of %s is refused: %j", async (path, body, sentence) => {
  const [status, error] = await json(path, { ...common, ...body });
  expect([status >= 400, error]).toEqual([true, sentence]);
  expect(await served.remote.tableNames()).toEqual(["t"]);
});

test.each(["constructor", "__proto__", "toString", "hasOwnProperty"])("%s is no mode", async (word) => {
  expect(await arrow(`tables/t?mode=${word}`)).toEqual([400, expect.stringContaining(word)]);
  expect(await arrow(`table/t/insert?mode=${word}`)).toEqual([400, expect.stringContaining(word)]);
  expect(await ids()).toEqual([1, 2, 3]);
});

test("a create with properties or storage options is refused", async () => {
  for (const [name, what] of [
    ["properties", "properties of tables"],
    ["storage_options", "storage options"],
  ] as const) {
    const sent = encodeURIComponent('{"a":"b"}');
    expect(await arrow(`table/u/create?${name}=${sent}`)).toEqual([501, `this service has no ${what}`]);
    expect(await arrow(`table/u_${name}/create?${name}=%7B%7D`, toIpcStream(columns))).toEqual([
      200,
      expect.anything(),
    ]);
  }
});

test("lists of tags, versions and indexes have pages, whose size the body may state", async () => {
  for (const tag of ["a", "b", "c"]) expect(await json("tags/create", { tag, version: 1 })).toEqual([200, "{}"]);
  const [, tags] = await json("tags/list", { limit: 1, page_token: "a" });
  expect(JSON.parse(String(tags))).toMatchObject({ tags: { b: { version: 1 } }, page_token: "b" });
  for (const name of ["x", "y", "z"])
    expect(await json("create_index", { column: "id", index_type: "BTREE", name, replace: false })).toEqual([
      200,
      "{}",
    ]);
  const [, indexes] = await json("index/list", { limit: 1, page_token: "x" });
  expect(JSON.parse(String(indexes))).toMatchObject({ indexes: [{ index_name: "y" }], page_token: "y" });
  const [, versions] = await json("version/list", { limit: 1, page_token: "4", descending: true });
  expect(JSON.parse(String(versions))).toMatchObject({ versions: [{ version: 3 }], page_token: "3" });
});

test("statistics of an index are those of the version that is asked for", async () => {
  expect(await json("create_index", { column: "id", index_type: "BTREE" })).toEqual([200, "{}"]);
  expect(await json("index/id_idx/stats", { version: 1 })).toEqual([404, "Index 'id_idx' was not found"]);
  expect(await json("index/id_idx/stats", { version: 2 })).toEqual([200, expect.stringContaining("BTREE")]);
});

test.each([
  "Commit conflict for version 3",
  "Too many concurrent writers",
  "index not found",
  "os error 28",
  "version 3 does not exist",
  "No space left on device (os error 28)",
  "a panic",
  "' Retryable commit conflict for version 3: '",
])("a value that reads like an error decides nothing: %s", async (value) => {
  const table = await served.local.createTable("texts", [{ value }]);
  expect(await table.countRows()).toBe(1);
  const asked = await Promise.all(
    [
      ["count_rows", { predicate: "cast(value as int) = 1" }],
      ["update", { predicate: "cast(value as int) = 1", updates: [["value", "'b'"]] }],
      ["delete", { predicate: `cast('${value.replaceAll("'", "''")}' as int) = 1` }],
    ].map(([path, body]) => ask(`table/texts/${String(path)}`, JSON.stringify(body), "application/json")),
  );
  expect(asked.map(([status, error]) => [status, String(error).includes("cast")])).toEqual([
    [400, true],
    [400, true],
    [400, true],
  ]);
});

test.each([
  ["create_index", { column: "value", index_type: "FTS", base_tokenizer: "Version not found error: version 9" }],
  ["create_index", { column: "value", index_type: "FTS", base_tokenizer: "No field named x" }],
  ["create_index", { column: "value", index_type: "FTS", base_tokenizer: "LanceError(IO): disk" }],
  ["count_rows", { predicate: "cast(concat(value, 'Permission denied (os error 13)') as int) = 1" }],
  ["delete", { predicate: "cast(concat(value, 'Permission denied (os error 13)') as int) = 1" }],
])(
  "nor does one that the engine repeats without quotes, or beside one that holds a quote: %s %j",
  async (action, body) => {
    await served.local.createTable("texts", [{ value: "it's" }]);
    const headers = { "x-api-key": apiKey, "content-type": "application/json" };
    const url = `${served.service.url}/v1/table/texts/${action}`;
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    expect([answer.status, await answer.json()]).toMatchObject([400, { code: 13 }]);
  },
);

test("nor does the name of a column", async () => {
  await served.local.createTable("texts", [{ value: 1, vector: [1, 2] }]);
  const named = (vectorColumn: string) => {
    const body = JSON.stringify({ vector: [1, 2], k: 1, vector_column: vectorColumn });
    return ask("table/texts/query", body, "application/json");
  };
  for (const name of [
    "missing",
    "Version not found error: version 9 does not exist",
    "index not found",
    "LanceError(IO)",
  ])
    expect(await named(name)).toEqual([400, expect.stringContaining(name)]);
});

test.each([
  ["count_rows", '{"__proto__":{"predicate":"false"}}'],
  ["add_columns", '{"__proto__":true,"new_columns":[{"name":"fresh","expression":"1"}]}'],
  ["alter_columns", '{"alterations":[{"path":"id","data_type":{"\\u005f_proto__":1,"type":"int64"}}]}'],
  ["query", '{"vector":[],"k":1,"columns":{"__proto__":"id"}}'],
])("a field of the name __proto__ is refused and not ignored: %s %s", async (action, body) => {
  expect(await ask(`table/t/${action}`, body, "application/json")).toEqual([
    400,
    'no field or name may be "__proto__"',
  ]);
});

test("a table whose columns clients can't read is not created", async () => {
  const { Field, Int32, Map_, Struct, Table, tableToIPC, Utf8, vectorFromArray } = arrowOfClient;
  const entry = new Struct([new Field("keys", new Utf8(), false), new Field("values", new Int32(), true)]);
  const maps = vectorFromArray([new Map([["a", 1]])], new Map_(new Field("entries", entry as never, false)) as never);
  const body = tableToIPC(new Table({ maps: maps as never }), "stream");
  expect(await arrow("tables/maps", body)).toEqual([501, expect.stringContaining("column maps")]);
  expect(await arrow("table/t/insert?mode=overwrite", body)).toEqual([501, expect.stringContaining("column maps")]);
  expect(await served.remote.tableNames()).toEqual(["t"]);
  expect(await ids()).toEqual([1, 2, 3]);
});
