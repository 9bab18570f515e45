import { expect, test } from "vitest";
import { columnsOf, float32, float64, int32, int64, int8, utf8 } from "../../../src/schema/builders.ts";
import type { Alteration } from "../../../src/schema/alter.ts";
import { risksOf } from "../../../src/schema/action.ts";

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
