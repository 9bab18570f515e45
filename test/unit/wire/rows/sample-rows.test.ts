import * as fc from "../../../support/fast-check.ts";
import { expect, test } from "vitest";
import { createFilledTable, connect } from "../../../../src/engine/engine.ts";
import type { Column } from "../../../../src/schema/data-type.ts";
import { checkRows } from "../../../../src/schema/row-values.ts";
import { rowsToIpcFile } from "../../../../src/wire/rows/write-rows.ts";
import { sampleRows } from "../../../../src/wire/rows/sample-rows.ts";
import { anyColumns } from "../../../support/drawn-tables.ts";
import { rounds } from "../../../support/rounds.ts";
import { temporaryFolder } from "../../../support/project.ts";

test("the generated rows of any columns fit them, are the same each time, and the engine accepts them", async () => {
  const db = await connect({ uri: temporaryFolder() });
  let tables = 0;
  await fc.assert(
    fc.asyncProperty(anyColumns, async (columns) => {
      const sample = sampleRows(columns, 40);
      fc.pre(sample !== undefined);
      expect(sampleRows(columns, 40)).toEqual(sample);
      expect(sample.rows).toHaveLength(40);
      checkRows("t", sample.columns, sample.rows, { whole: true });
      const name = `t${tables++}`;
      await createFilledTable(db, name, rowsToIpcFile(sample.columns, sample.rows), "create");
      expect(await (await db.openTable(name)).countRows()).toBe(40);
    }),
    { numRuns: rounds(60, 1_000) },
  );
});

test("no rows are generated if a column that may not be null can't be filled", () => {
  const columns = (nullable: boolean): readonly Column[] => [
    { name: "a", type: { kind: "int32" }, nullable: true },
    { name: "b", type: { kind: "binary" }, nullable },
  ];
  expect(sampleRows(columns(false), 2)).toBeUndefined();
  expect(sampleRows(columns(true), 2)?.columns.map(({ name }) => name)).toEqual(["a"]);
});
