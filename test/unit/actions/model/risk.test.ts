import { expect, test } from "vitest";
import {
  bool,
  columnsOf,
  float32,
  float64,
  int32,
  int64,
  int8,
  utf8,
} from "../../../../src/schema/declare/type-builders.ts";
import type { NullableType } from "../../../../src/schema/typed/shape.ts";
import type { DataType } from "../../../../src/schema/data-type.ts";
import type { Alteration } from "../../../../src/actions/model/alteration.ts";
import { risksOf } from "../../../../src/actions/apply-action.ts";

const table = { columns: columnsOf({ id: int32().notNull(), n: int32(), f: float64().notNull(), t: utf8() }) };

test.each<[string, Alteration, readonly string[]]>([
  ["a widening of a not null column", { path: "id", type: int64().type }, []],
  ["a widening of a nullable column", { path: "n", type: int64().type }, ["writers"]],
  ["a narrowing of integers", { path: "id", type: int8().type }, ["failure"]],
  ["a narrowing of floats", { path: "f", type: float32().type }, ["loss"]],
  ["a rename", { path: "t", rename: "u" }, []],
  ["not null", { path: "t", nullable: false }, ["failure"]],
  ["nullable", { path: "id", nullable: true }, []],
])("the risks of %s", (_, alteration, kinds) => {
  const risks = risksOf({ kind: "alterColumns", table: "t", alterations: [alteration] }, table);
  expect(risks.map(({ kind }) => kind)).toEqual(kinds);
});

test("a table that is created has no risks", () => {
  expect(risksOf({ kind: "createTable", table: "t", columns: table.columns }, undefined)).toEqual([]);
});

const notes = (as: string, type: DataType) =>
  risksOf({ kind: "addColumns", table: "t", columns: [{ name: "x", type, nullable: true, as }] }, table).map(
    ({ kind }) => kind,
  );

test.each<[string, NullableType, readonly string[]]>([
  ["f", int32(), ["loss", "failure"]],
  ["F + 1", int32(), ["loss", "failure"]],
  ["n", bool(), ["loss", "failure"]],
  ["n", float32(), ["loss", "failure"]],
  ["n", float64(), ["failure"]],
  ["n", int8(), ["failure"]],
  ["t", int32(), ["failure"]],
  ["f", utf8(), ["failure"]],
  ["7.99", int32(), ["loss"]],
  ["7", int32(), []],
  ["'f'", int32(), []],
])("the risks of a column from %s as %j are %j", (as, type, kinds) => {
  expect(notes(as, type.type)).toEqual(kinds);
});

test("a retype that makes everything null says so, and nothing of rows that could stop it", () => {
  const risks = risksOf({ kind: "convertColumn", table: "t", path: "t", type: int32().type, using: "null" }, table);
  expect(risks.map(({ text }) => text)).toEqual([
    "every value of t.t is lost: it is null then",
    expect.stringContaining("appends by others are refused"),
  ]);
});
