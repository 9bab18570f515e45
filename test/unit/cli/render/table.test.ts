import { expect, test } from "vitest";
import type { Line } from "../../../../src/cli/command/output.ts";
import { renderTable, type TableRow } from "../../../../src/cli/render/table.ts";

/** The lines without their styles. */
function shown(rows: readonly TableRow[], columns?: number, verbose = false): readonly string[] {
  const text = (line: Line): string =>
    [line].flat().reduce((all: string, part) => all + (typeof part === "string" ? part : part.text), "");
  return renderTable(rows, { columns, verbose }).map(text);
}

const table = (...rows: readonly (readonly string[])[]) => rows.map((cells) => ({ cells }));

test("a table's columns are as wide as their widest cell, and no line ends in spaces", () => {
  expect(shown(table(["1", "create", "applied"], ["10", "b", ""], ["", "", ""]))).toEqual([
    "1   create  applied",
    "10  b",
    "",
  ]);
});

test("wide characters, emoji and accents are measured as a terminal shows them", () => {
  expect(shown(table(["日本", "|"], ["👩", "|"], ["e\u0301", "|"], ["abcd", "|"]))).toEqual([
    "日本  |",
    "👩    |",
    "e\u0301     |",
    "abcd  |",
  ]);
});

const note = "41 of 50 rows computed";

test("a note follows the cells if there is space, and gets its own line otherwise", () => {
  const rows = [{ cells: ["pending", "0001_a"], note }, { cells: ["pending", "0002_longer"] }];
  expect(shown(rows)).toEqual([`pending  0001_a       ${note}`, "pending  0002_longer"]);
  expect(shown(rows, 44)).toEqual([`pending  0001_a       ${note}`, "pending  0002_longer"]);
  expect(shown(rows, 43)).toEqual(["pending  0001_a", `         ${note}`, "pending  0002_longer"]);
});

test("a problem gets one line, cut at the width of the terminal, and all of it with --verbose or without a terminal", () => {
  const rows = [{ cells: ["pending", "0001_a"], problem: "it failed for a reason that is long" }];
  expect(shown(rows, 30)).toEqual(["pending  0001_a", "         it failed for a rea …"]);
  const whole = ["pending  0001_a", "         it failed for a reason that is long"];
  expect(shown(rows, 30, true)).toEqual(whole);
  expect(shown(rows)).toEqual(whole);
});
