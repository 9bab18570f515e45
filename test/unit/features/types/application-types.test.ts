import { expect, test } from "vitest";
import { applicationTypes } from "../../../../src/features/types/application-types.ts";
import type { Column, DataType } from "../../../../src/schema/data-type.ts";

test("a table that the client can't open is left out, with a word about it", () => {
  const large: DataType = { kind: "largeList", item: { name: "item", type: { kind: "int8" }, nullable: true } };
  const text = applicationTypes(new Map([["parts", { columns: [{ name: "x", type: large, nullable: true }] }]]));
  expect(text).toBe(`// Written by migrate types; do not edit. Rows and schemas of the tables after the last migration.

// parts is left out: it holds a largeList, and the JavaScript client opens no such table.

/** Rows by the names of their tables. */
export interface Tables {}
`);
});

test("a computed column is read-only in the type of a row", () => {
  const columns: readonly Column[] = [
    { name: "price", type: { kind: "float64" }, nullable: true },
    { name: "total", type: { kind: "float64" }, nullable: true, computed: "price * 2" },
  ];
  expect(applicationTypes(new Map([["orders", { columns }]]))).toContain(`export interface OrdersRow {
  price: number | null;
  readonly total: number | null;
}
`);
});
