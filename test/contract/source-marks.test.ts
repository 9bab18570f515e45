/** Marks as the engine computes them. */
import { expect, test } from "vitest";
import { markSql } from "../../src/actions/rewrite/source-marks.ts";
import { temporaryFolder } from "../support/project.ts";
import { lancedb } from "../support/tables.ts";

async function marksOf(rows: Record<string, unknown>[], version: string, from: readonly string[]) {
  const table = await (await lancedb.connect(temporaryFolder())).createTable("t", rows);
  const mark = new Map([["mark", `arrow_cast(${markSql({ version, from })}, 'Utf8')`]]);
  return (await table.query().select(mark).toArray()).map((row) => row["mark"] as string);
}

test("no two rows with other sources have one mark", async () => {
  const rows = [
    { a: "a", b: "b\x1fc" },
    { a: "a\x1fb", b: "c" },
    { a: null, b: "c" },
    { a: "\0", b: "c" },
    { a: "", b: "c" },
    { a: "-", b: "c" },
    { a: "1:a", b: "" },
    { a: "1:", b: "a" },
    { a: "a", b: null },
    { a: "é", b: "x" },
    { a: "e\u0301", b: "x" },
  ];
  const marks = await marksOf(rows, "1", ["a", "b"]);
  expect(new Set(marks).size).toBe(rows.length);
  expect(marks).not.toContain(null);
});

test("the same texts of other columns, or for another version, have another mark", async () => {
  const rows = [{ a: "x", b: "x" }];
  const marks = [["1", ["a"]] as const, ["1", ["b"]] as const, ["1", ["a", "b"]] as const, ["2", ["a"]] as const];
  const all = await Promise.all(marks.map(async ([version, from]) => await marksOf(rows, version, from)));
  expect(new Set(all.flat()).size).toBe(marks.length);
});
