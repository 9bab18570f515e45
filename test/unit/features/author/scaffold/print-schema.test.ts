import { btree, int32, utf8 } from "lance-migrate";
import { expect, test } from "vitest";
import { schemaText } from "../../../../../src/features/author/scaffold/print-schema.ts";
import { columnsOf } from "../../../../../src/schema/declare/type-builders.ts";
import type { Table } from "../../../../../src/schema/table.ts";

const columns = columnsOf({ id: int32(), title: utf8() });
const textOf = (more: Omit<Table, "columns">) => schemaText(new Map([["docs", { columns, ...more }]]));

test("a table without indexes and metadata is declared by its columns", () => {
  expect(textOf({ indexes: {}, metadata: {} })).toMatch(/docs: \{ id: m?\.?int32\(\), title: m?\.?utf8\(\) \}/);
});

test("metadata and indexes are declared, and the name of an index if it is not the usual one", () => {
  const text = textOf({
    metadata: { owner: "search" },
    indexes: { id_idx: { path: "id", ...btree() }, own: { path: "title", ...btree() } },
  });
  expect(text).toContain('metadata: { owner: "search" }');
  expect(text).toMatch(/on: "id", type: m?\.?btree\(\) \}/);
  expect(text).toMatch(/on: "title", type: m?\.?btree\(\), name: "own" \}/);
});
