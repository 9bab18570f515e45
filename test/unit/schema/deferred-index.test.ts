import { int32, ivfFlat, ivfPq, struct, vector } from "lance-migrate";
import { expect, test } from "vitest";
import type { Column } from "../../../src/schema/data-type.ts";
import { columnsOf } from "../../../src/schema/declare/type-builders.ts";
import {
  deferralMarks,
  deferredOf,
  markDeferred,
  unmarkDeferred,
  withDeferred,
} from "../../../src/schema/deferred-index.ts";
import { sameTable, type Table } from "../../../src/schema/table.ts";
import type { TableIndex } from "../../../src/schema/table-index.ts";
import { setMetadata } from "../../../src/actions/kinds/tables/set-metadata.ts";

const flat: TableIndex = { path: "v", ...ivfFlat({ numPartitions: 2 }) };
const nested: TableIndex = { path: "s.v", ...ivfPq({ distanceType: "cosine" }) };

function marked(table: Table, ...updates: Parameters<typeof setMetadata.after>[1]["updates"]): Table {
  return setMetadata.after(table, { kind: "setMetadata", table: "t", updates });
}

const plain: Table = { columns: columnsOf({ id: int32(), v: vector(4), s: struct({ v: vector(8) }) }), indexes: {} };

test("a mark is read as the index that it states, and is no metadata", () => {
  const seen = withDeferred(marked(plain, markDeferred("a", flat), markDeferred("b", nested)));
  expect(seen.indexes).toEqual({ a: flat, b: nested });
  expect(deferredOf(seen)).toEqual([
    ["a", flat],
    ["b", nested],
  ]);
  expect(sameTable({ ...plain, indexes: { a: flat, b: nested } }, seen)).toBe(true);
  expect(JSON.stringify(seen.columns)).not.toContain("deferred");
});

test("the mark of an index that exists has no meaning, and neither has one that is removed", () => {
  const index = { a: { ...flat, options: {} } };
  const both = withDeferred({ ...marked(plain, markDeferred("a", flat)), indexes: index });
  expect([both.indexes, both.deferred]).toEqual([index, undefined]);
  const removed = marked(marked(plain, markDeferred("a", flat)), unmarkDeferred("a", flat));
  expect(withDeferred(removed).indexes).toEqual({});
});

test("indexes are added only to a table that was described with its indexes", () => {
  const { columns } = marked(plain, markDeferred("a", flat));
  expect(withDeferred({ columns })).not.toHaveProperty("indexes");
  expect(withDeferred(plain)).toBe(plain);
});

test.each(["", "[]", "null", "{", '{"kind":"btree","options":{}}', '{"kind":"ivfFlat"}'])(
  "a mark that no run has written is ignored: %s",
  (value) => {
    const columns: readonly Column[] = plain.columns.map((column) =>
      column.name === "v" ? { ...column, metadata: { "lance_migrate_deferred.a": value } } : column,
    );
    expect(deferralMarks(columns)).toEqual({});
  },
);
