import { tableFromIPC } from "apache-arrow";
import * as fc from "../../../support/fast-check.ts";
import { expect, test } from "vitest";
import { connect, createFilledTable, readColumns } from "../../../../src/engine/engine.ts";
import { search } from "../../../../src/engine/query.ts";
import type { Column, DataType } from "../../../../src/schema/data-type.ts";
import { canDraw, drawnRows } from "../../../../src/wire/rows/sample-rows.ts";
import { sumOfRows } from "../../../../src/wire/rows/row-checksum.ts";
import { anyColumns } from "../../../support/drawn-tables.ts";
import { rounds } from "../../../support/rounds.ts";
import { temporaryFolder } from "../../../support/project.ts";

async function* each(...files: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* files;
}

test("the engine takes drawn rows of any columns, and gives back every value", async () => {
  const db = await connect({ uri: temporaryFolder() });
  let tables = 0;
  await fc.assert(
    fc.asyncProperty(anyColumns.filter(canDraw), fc.constantFrom("edges", "plain"), async (columns, draw) => {
      const name = `t${tables++}`;
      const file = drawnRows(columns, 40, draw);
      await createFilledTable(db, name, file, "create");
      const table = await db.openTable(name);
      expect(await readColumns(table)).toEqual(columns);
      const { first, others } = await search(table, {});
      const read = [first];
      for await (const one of others) read.push(one);
      expect(await sumOfRows(each(...read))).toEqual(await sumOfRows(each(file)));
    }),
    { numRuns: rounds(60, 1_000) },
  );
});

function valuesOf(type: DataType, draw: "edges" | "plain" = "edges", nullable = false): readonly unknown[] {
  return [...tableFromIPC(drawnRows([{ name: "a", type, nullable }], 200, draw)).getChild("a")!];
}

test("edges are among them, and are not where rows are to be plain", () => {
  const floats = valuesOf({ kind: "float64" });
  for (const edge of [0, -0, Number.NaN, Infinity, -Infinity, Number.MAX_VALUE, Number.MIN_VALUE])
    expect(floats.some((value) => Object.is(value, edge))).toBe(true);
  expect(valuesOf({ kind: "int8" })).toEqual(expect.arrayContaining([-128, 127, 0]));
  expect(valuesOf({ kind: "uint64" })).toEqual(expect.arrayContaining([0n, 2n ** 64n - 1n]));
  const texts = valuesOf({ kind: "utf8" }) as readonly string[];
  expect(texts).toContain("");
  expect(Math.max(...texts.map(({ length }) => length))).toBe(10_000);
  expect(valuesOf({ kind: "utf8" }, "edges", true)).toContain(null);
  expect(valuesOf({ kind: "utf8" }, "plain", true)).not.toContain(null);
  for (const kind of ["float16", "float32", "float64", "int8", "uint64"] as const)
    for (const value of valuesOf({ kind }, "plain")) {
      expect(Number(value)).toBeGreaterThanOrEqual(0);
      expect(Number(value)).toBeLessThan(100);
    }
});

const columns: readonly Column[] = [
  { name: "a", type: { kind: "int32" }, nullable: true },
  { name: "b", type: { kind: "list", item: { name: "item", type: { kind: "utf8" }, nullable: true } }, nullable: true },
];

test("the same rows are drawn each time", () => {
  expect(drawnRows(columns, 50, "edges")).toEqual(drawnRows(columns, 50, "edges"));
});
