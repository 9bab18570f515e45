import { expect, test } from "vitest";
import { columnsOf, int32, list, struct, utf8, vector } from "../../../../src/schema/declare/type-builders.ts";
import { rowsToIpc } from "../../../../src/wire/rows/write-rows.ts";
import { bytesOfColumns } from "../../../../src/wire/rows/value-bytes.ts";

test("texts count with their bytes, numbers with their width, and what is inside with both", () => {
  const columns = columnsOf({
    text: utf8(),
    number: int32(),
    both: struct({ text: utf8() }),
    v: vector(4),
    l: list(utf8()),
  });
  const rows = [
    { text: "größe", number: 1, both: { text: "ab" }, v: [1, 2, 3, 4], l: ["a", "bc"] },
    { text: null, number: null, both: { text: "" }, v: [1, 2, 3, 4], l: [] },
  ];
  const { bytes, ...rest } = bytesOfColumns(rowsToIpc(columns, rows as never));
  expect(rest).toEqual({ rows: 2 });
  expect(bytes).toEqual([7, 8, 2, 32, 3]);
  expect(bytesOfColumns(rowsToIpc(columns, [])).bytes).toEqual([0, 0, 0, 0, 0]);
});
