import { describe, expect, test } from "vitest";
import {
  parseCount,
  parseDescription,
  parseInserted,
  parseList,
  parseVersion,
} from "../../../../src/features/rest/parse-answers.ts";

const answer = (body: unknown) => ({
  status: 200,
  headers: {},
  body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
});

describe("a list of tables", () => {
  test.each<readonly [unknown, readonly string[], string | undefined]>([
    [[], [], undefined],
    [["a", "b"], ["a", "b"], undefined],
    [[{ name: "a" }, { name: "b", version: 3, schema: {} }], ["a", "b"], undefined],
    [[{ table: "a" }], ["a"], undefined],
    [["a", { name: "b" }, { table: "c" }], ["a", "b", "c"], undefined],
    [{ tables: [] }, [], undefined],
    [{ tables: ["a"] }, ["a"], undefined],
    [{ tables: [{ name: "a" }, { table: "b" }] }, ["a", "b"], undefined],
    [{ tables: [{ name: "a", table: "b" }] }, ["a"], undefined],
    [{ tables: ["a"], more: { of: "this" } }, ["a"], undefined],
    [{ tables: ["a"], page_token: "t" }, ["a"], "t"],
    [{ tables: ["a"], pageToken: "t" }, ["a"], "t"],
    [{ tables: ["a"], next_page_token: "t" }, ["a"], "t"],
    [{ tables: ["a"], nextPageToken: "t" }, ["a"], "t"],
    [{ tables: ["a"], page_token: 7 }, ["a"], "7"],
    [{ tables: ["a"], page_token: 0 }, ["a"], "0"],
    [{ tables: ["a"], page_token: "" }, ["a"], undefined],
    [{ tables: ["a"], page_token: null }, ["a"], undefined],
    [{ tables: ["a"], page_token: "", nextPageToken: "t" }, ["a"], "t"],
    [{ tables: ["a"], page_token: "a b/ü&=?" }, ["a"], "a b/ü&=?"],
    ['\n { "tables" : [ "a" ] } \r\n', ["a"], undefined],
    [["Größe", "日本", "a b"], ["Größe", "日本", "a b"], undefined],
    [["__proto__", "constructor"], ["__proto__", "constructor"], undefined],
  ])("%j is read", (body, names, next) => {
    expect(parseList(answer(body))).toEqual({ names, next });
  });

  test("may state how many tables there are, or that there are more than it can be asked for", () => {
    expect(parseList(answer({ tables: ["a"], count: 2 }))).toMatchObject({ total: 2, more: undefined });
    expect(parseList(answer({ tables: ["a"], has_more: true }))).toMatchObject({ more: "has_more: true" });
    expect(parseList(answer({ tables: ["a"], has_more: true, page_token: "t" }))).toMatchObject({
      next: "t",
      more: undefined,
    });
    expect(parseList(answer({ tables: ["a"], has_more: false, next_cursor: null }))).toMatchObject({ more: undefined });
  });

  test("may name the address of its next page in a header", () => {
    const link = '<https://x/v1/tables?page=1>; rel="prev", <https://x/v1/tables?page=3>; rel="next"';
    const paged = { ...answer(["a"]), headers: { link } };
    expect(parseList(paged)).toMatchObject({ names: ["a"], link: "https://x/v1/tables?page=3" });
  });

  test.each<unknown>([
    "",
    " ",
    "null",
    "true",
    "7",
    '"tables"',
    "{}",
    '{"tables":',
    '["a","b"',
    '["a"]["b"]',
    "<html><body>[]</body></html>",
    "tables: []",
    "a\nb\n",
    { tables: null },
    { tables: "a" },
    { tables: { a: {} } },
    { tables: [1] },
    { tables: [null] },
    { tables: [["a"]] },
    { tables: [{}] },
    { tables: [{ name: 1 }] },
    { tables: ["a", { title: "b" }] },
    { tables: ["a"], page_token: {} },
    { tables: ["a"], page_token: ["t"] },
    { tables: ["a"], page_token: true },
    { names: ["a"] },
    { error: "no" },
    [1],
    [{}],
    [null],
  ])("%j is none", (body) => {
    expect(parseList(answer(body))).toBeUndefined();
  });

  test("of bytes that are no UTF-8 is none", () => {
    expect(parseList({ status: 200, headers: {}, body: Buffer.from([0x1f, 0x8b, 8, 0, 0xff, 0xfe]) })).toBeUndefined();
  });

  test("is read behind a byte order mark", () => {
    expect(parseList(answer('\uFEFF["a"]'))).toEqual({ names: ["a"], next: undefined });
  });

  test("of any depth does not exhaust the stack", () => {
    expect(parseList(answer(`${"[".repeat(100_000)}${"]".repeat(100_000)}`))).toBeUndefined();
    expect(parseList(answer(`${'{"tables":['.repeat(50_000)}${"]}".repeat(50_000)}`))).toBeUndefined();
  });
});

describe("a description", () => {
  const int32 = { name: "a", type: { type: "int32" }, nullable: false };
  const column = { name: "a", type: { kind: "int32" }, nullable: false };

  test.each<readonly [unknown, number | undefined, object?]>([
    [{ version: 3, schema: { fields: [int32] } }, 3],
    [{ schema: { fields: [int32] } }, undefined],
    [{ version: null, schema: { fields: [int32] } }, undefined],
    [
      { table: "t", version: 1, location: "/x", schema: { fields: [int32], metadata: { a: "b" } }, stats: { rows: 1 } },
      1,
      { a: "b" },
    ],
  ])("%j is read with its version", (body, version, metadata) => {
    expect(parseDescription(answer(body))).toEqual({ columns: [column], metadata, version, vague: false });
  });

  test("of a table without columns is read", () => {
    expect(parseDescription(answer({ version: 1, schema: { fields: [] } }))).toEqual({
      columns: [],
      version: 1,
      vague: false,
    });
  });

  test("without a word about nulls means that there may be some", () => {
    const body = { version: 1, schema: { fields: [{ name: "a", type: { type: "int32" } }] } };
    expect(parseDescription(answer(body))?.columns).toEqual([{ ...column, nullable: true }]);
  });

  test("with a type that nobody knows keeps its name", () => {
    const body = { version: 1, schema: { fields: [{ name: "a", type: { type: "geometry" }, nullable: true }] } };
    expect(parseDescription(answer(body))?.columns).toEqual([
      { name: "a", type: { kind: "unknown", name: "geometry" }, nullable: true },
    ]);
  });

  test.each<readonly [unknown, boolean]>([
    [{ type: "int64" }, false],
    [{ type: "string" }, false],
    [{ type: "float" }, false],
    [{ type: "double" }, false],
    [{ type: "timestamp:us:UTC" }, false],
    [{ type: "time64:ns" }, false],
    [{ type: "date32:day" }, false],
    [{ type: "utf8" }, true],
    [{ type: "Utf8" }, true],
    [{ type: "large_utf8" }, true],
    [{ type: "timestamp" }, true],
    [{ type: "time32" }, true],
    [{ type: "duration" }, true],
    [{ type: "float32" }, true],
    [{ type: "fixed_size_list", length: 2, fields: [{ name: "item", type: { type: "float32" } }] }, true],
    ["utf8", true],
    ["string", false],
  ])("with the type %j is vague: %s", (type, vague) => {
    const body = { version: 1, schema: { fields: [{ name: "a", type, nullable: true }] } };
    expect(parseDescription(answer(body))).toMatchObject({ vague });
  });

  test.each<unknown>([
    "",
    "null",
    "{}",
    "<html></html>",
    { version: 1 },
    { version: 1, schema: null },
    { version: 1, schema: {} },
    { version: 1, schema: [] },
    { version: 1, schema: { fields: null } },
    { version: 1, schema: { fields: {} } },
    { version: 1, schema: { fields: [null] } },
    { version: 1, schema: { fields: ["a"] } },
    { version: 1, schema: { fields: [{ type: { type: "int32" } }] } },
    { version: 1, schema: { fields: [{ name: 1, type: { type: "int32" } }] } },
    { version: 1, schema: { fields: [{ name: "a" }] } },
    { version: 1, schema: { fields: [{ name: "a", type: {} }] } },
    { version: 1, schema: { fields: [{ name: "a", type: { type: 7 } }] } },
    { version: "three", schema: { fields: [int32] } },
    { version: {}, schema: { fields: [int32] } },
    [{ version: 1, schema: { fields: [int32] } }],
  ])("%j is none", (body) => {
    expect(parseDescription(answer(body))).toBeUndefined();
  });

  test.each<readonly [string, string]>([
    [
      "types",
      `{"name":"a","type":${'{"type":"list","fields":[{"name":"item","type":'.repeat(20_000)}"int32"${"}]}".repeat(20_000)}}`,
    ],
    ["metadata", `{"name":"a","type":"int32","metadata":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
    ["lengths", `{"name":"a","type":{"type":"int32","length":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`],
  ])("with %s of hostile depth does not exhaust the stack", (_, field) => {
    expect(() => parseDescription(answer(`{"version":1,"schema":{"fields":[${field}]}}`))).not.toThrow();
  });
});

describe("the answer to a change", () => {
  test.each<readonly [unknown, number | undefined]>([
    ["", undefined],
    [" \r\n", undefined],
    ["{}", undefined],
    ["{ }\n", undefined],
    [{ version: 43 }, 43],
    [{ version: 0 }, 0],
    [{ version: null }, undefined],
    [{ version: 2, transaction_id: "x" }, 2],
    [{ message: "Update successful" }, undefined],
  ])("%j is read", (body, version) => {
    expect(parseVersion(answer(body))).toEqual({ version });
  });

  test.each<unknown>([
    "null",
    "43",
    '"ok"',
    "[]",
    "true",
    "OK",
    "<html></html>",
    '{"version":',
    { version: "43" },
    { version: {} },
    { version: true },
  ])("%j is none", (body) => {
    expect(parseVersion(answer(body))).toBeUndefined();
  });
});

test.each<readonly [unknown, number | undefined]>([
  ["42", 42],
  ["0", 0],
  [{ count: 42 }, 42],
  [{ count: "42" }, undefined],
  ["", undefined],
  ["{}", undefined],
  ["null", undefined],
  ['"42"', undefined],
  ["forty-two", undefined],
  ["[42]", undefined],
])("the count %j is %s", (body, count) => {
  expect(parseCount(answer(body))).toBe(count);
});

test.each<readonly [unknown, number | undefined]>([
  [{ num_inserted_rows: 1 }, 1],
  [{ num_inserted_rows: 0, version: 3 }, 0],
  [{ version: 3 }, undefined],
  [{ num_inserted_rows: "1" }, undefined],
  ["", undefined],
  ["1", undefined],
  ["<html></html>", undefined],
])("the merge's answer %j says that %s rows are new", (body, rows) => {
  expect(parseInserted(answer(body))).toBe(rows);
});
