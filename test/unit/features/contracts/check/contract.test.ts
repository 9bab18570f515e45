import { expect, test } from "vitest";
import { parseContract } from "../../../../../src/features/contracts/check/contract.ts";

const whole = { format: 1, application: "search", release: "1.4.0", tables: {} };

test.each<[unknown, string]>([
  [undefined, "it must be an object"],
  [[], "it must be an object"],
  [{ ...whole, format: 2 }, "format must be 1"],
  [{ ...whole, release: 1 }, "release must be the name of the release"],
  [{ ...whole, application: "" }, "application must be the name of the application"],
  [{ ...whole, table: {} }, "it holds the unknown key table"],
  [{ ...whole, tables: { a: { read: {} } } }, "tables.a holds the unknown key read"],
  [{ ...whole, tables: { a: { reads: { b: 1 } } } }, 'tables.a.reads.b must be a type such as "utf8 not null"'],
  [{ ...whole, tables: { a: { reads: { b: "string" } } } }, "tables.a, b: there is no type string; did you mean utf8?"],
  [{ ...whole, tables: { a: { reads: { "b..c": "utf8" } } } }, "tables.a, b..c: has an empty part"],
  [{ ...whole, tables: { a: { reads: { b: "utf8 null" } } } }, 'tables.a, b: expected its end where "null" stands'],
  [{ ...whole, tables: { a: { appends: true } } }, "tables.a appends rows and states no writes"],
])("refuses %j", (value, problem) => {
  expect(() => parseContract(value, "search.json")).toThrow(`the contract search.json is not valid: ${problem}`);
});

test("reads columns by their paths, and any type", () => {
  const reads = { id: "int64 not null", "source.url": "utf8", "`a.b`": "any", c: "any not null" };
  const { tables } = parseContract({ ...whole, tables: { a: { reads } } }, "search.json");
  expect(tables.get("a")!.reads).toEqual([
    { path: ["id"], type: { kind: "int64" }, nullable: false },
    { path: ["source", "url"], type: { kind: "utf8" }, nullable: true },
    { path: ["a.b"], type: undefined, nullable: true },
    { path: ["c"], type: undefined, nullable: false },
  ]);
});
