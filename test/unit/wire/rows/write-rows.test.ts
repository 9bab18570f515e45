import { expect, test } from "vitest";
import {
  bool,
  columnsOf,
  date32,
  float16,
  float32,
  float64,
  int8,
  int64,
  largeUtf8,
  list,
  struct,
  timestamp,
  uint64,
  utf8,
  vector,
} from "../../../../src/schema/declare/type-builders.ts";
import type { ColumnType } from "../../../../src/schema/typed/shape.ts";
import type { RowValue } from "../../../../src/schema/row-values.ts";
import { connect, createFilledTable, readColumns } from "../../../../src/engine/engine.ts";
import { rowsIn } from "../../../../src/wire/rows/read-values.ts";
import { free, givenColumns, rowsToIpc, rowsToIpcFile } from "../../../../src/wire/rows/write-rows.ts";
import { temporaryFolder } from "../../../support/project.ts";

/** Times as they are counted, big integers as text. */
function plain(value: unknown): unknown {
  if (value === null || typeof value !== "object") return typeof value === "bigint" ? `${value}` : value;
  if (Symbol.iterator in value && !("toJSON" in value && !("length" in value)))
    return Array.from(value as Iterable<unknown>, plain);
  return Object.fromEntries(Object.entries((value as { toJSON(): object }).toJSON()).map(([k, v]) => [k, plain(v)]));
}

test.each<[string, ColumnType, readonly RowValue[], readonly unknown[]]>([
  ["bools", bool(), [true, null, false], [true, null, false]],
  ["bools that are all null", bool(), [null, null], [null, null]],
  ["small integers", int8(), [-128, null, 127], [-128, null, 127]],
  ["big integers", int64(), ["9223372036854775807", 5, null], ["9223372036854775807", "5", null]],
  ["big unsigned integers", uint64(), ["18446744073709551615"], ["18446744073709551615"]],
  ["half floats", float16(), [1.5, null, -65_504], [1.5, null, -65_504]],
  ["floats", float32(), [0.5, null], [0.5, null]],
  ["doubles", float64(), [0.1, 1e300], [0.1, 1e300]],
  ["text", utf8(), ["", null, "größer"], ["", null, "größer"]],
  ["large text", largeUtf8(), ["a", null], ["a", null]],
  ["days", date32(), ["1970-01-02", "1969-12-31", null], [86_400_000, -86_400_000, null]],
  ["seconds", timestamp("s"), ["1969-12-31T23:59:59Z", null], [-1000, null]],
  ["nanoseconds", timestamp("ns", "UTC"), ["2026-11-20T12:34:56.789Z"], [1_795_178_096_789]],
  ["lists", list(int8()), [[1, null], null, []], [[1, null], null, []]],
  ["lists of bools that are all null", list(bool()), [[null], []], [[null], []]],
  ["vectors", vector(2), [[1, 2], null, null], [[1, 2], null, null]],
  ["nothing but null vectors", vector(2), [null], [null]],
  [
    "structs",
    struct({ x: int8(), y: utf8().notNull() }),
    [{ x: 1, y: "a" }, { y: "b" }],
    [
      { x: 1, y: "a" },
      { x: null, y: "b" },
    ],
  ],
  [
    "null structs with a field that is not null",
    struct({ y: utf8().notNull() }),
    [{ y: "a" }, null],
    [{ y: "a" }, null],
  ],
  [
    "vectors in structs",
    struct({ v: vector(2) }),
    [null, { v: [1, 2] }, { v: null }],
    [null, { v: [1, 2] }, { v: null }],
  ],
])("the engine reads %s as they were given", async (_, type, values, expected) => {
  const columns = columnsOf({ a: type });
  const db = await connect({ uri: temporaryFolder() });
  const file = rowsToIpcFile(
    columns,
    values.map((a) => ({ a })),
  );
  await createFilledTable(db, "t", file, "create");
  const table = await db.openTable("t");
  expect(await readColumns(table)).toEqual(columns);
  const rows = await table.query().toArrow();
  expect(values.map((__, row) => plain(rows.getChildAt(0)!.get(row)))).toEqual(expected);
});

test("a column of which no row has a value is left out where that is known", () => {
  const columns = columnsOf({ a: int8(), b: int8(), c: int8() });
  expect(givenColumns(columns, [{ a: 0, b: null }, { a: null }]).map(({ name }) => name)).toEqual(["a"]);
});

test("large values are written, and stay where they were given", () => {
  const columns = columnsOf({ v: vector(1_000) });
  const vectors = Array.from({ length: 100 }, (_, row) => new Float32Array(1_000).fill(row));
  const rows = vectors.map((v) => ({ v: v as unknown as readonly number[] }));
  const file = rowsToIpcFile(columns, rows);
  expect(rowsIn([file])).toEqual(rows);
  expect(rowsIn([rowsToIpc(columns, rows)])).toEqual(rows);
  expect(vectors[99]).toHaveLength(1_000);
  free(file);
  expect(file).toHaveLength(0);
  expect(rowsIn([rowsToIpcFile(columns, rows)])).toEqual(rows);
});
