import { expect, test } from "vitest";
import { printable } from "../../../../src/cli/command/printable.ts";
import { code, fenced, prose, tableRow } from "../../../../src/features/markdown/markdown.ts";
import * as fc from "../../../support/fast-check.ts";
import { renderedMarkdown } from "../../../support/rendered-markdown.ts";
import { rounds } from "../../../support/rounds.ts";

const parts = [
  ..."`|\\<>[]()*_~#@!$&-+=:.\"' \n\t",
  "a",
  "1",
  "é",
  "😀",
  "\u202e",
  "\ud800",
  "-->",
  "</code>",
  "</details>",
];
parts.push(
  "www.example.org",
  "https://example.org",
  "user@example.org",
  "@somebody",
  "#1",
  "&lt;",
  "```",
  "~~~",
  "![a](b)",
  "<b>",
);
const hostile = fc.array(fc.constantFrom(...parts), { maxLength: 8 }).map((all) => all.join(""));

/** In a cell, spaces at the ends can't be seen. */
const seen = (text: string) => printable(text).trim();

test("a text in a table is shown as it is, and is no markup", () => {
  fc.assert(
    fc.property(hostile, hostile, (one, other) => {
      const rows = [
        ["a", "b"],
        ["---", "---"],
        [`x ${code(one)} y`, `x ${prose(other)} y`],
      ];
      const { tags, loose, rows: shown } = renderedMarkdown(rows.map(tableRow).join("\n"));
      expect(shown[1]).toHaveLength(2);
      expect(shown[1]!.map((cell) => cell.slice(1, -1).trim())).toEqual([seen(one), seen(other)]);
      expect(tags.filter((tag) => !["table", "thead", "tbody", "tr", "th", "td", "code"].includes(tag))).toEqual([]);
      expect(loose).not.toMatch(/@|#|www\.|:\/\//);
    }),
    { numRuns: rounds(1_000, 20_000) },
  );
});

test("no line ends a block of code", () => {
  fc.assert(
    fc.property(fc.array(hostile, { minLength: 1, maxLength: 3 }), (lines) => {
      const { html } = renderedMarkdown(["- a", ...fenced(lines).map((line) => `  ${line}`), "", "end"].join("\n"));
      expect(html.match(/<pre>/g)).toHaveLength(1);
      expect(html).toMatch(/<\/pre>\n<\/li>\n<\/ul>\n<p>end<\/p>\n$/);
    }),
    { numRuns: rounds(300, 5_000) },
  );
});

test("usual names and texts stay readable in the source", () => {
  expect(code("0002_headlines")).toBe("`0002_headlines`");
  expect(prose("documents.title would be lost: 3 rows")).toBe("documents.title would be lost: 3 rows");
  expect(prose('accepts = ["lossy"]')).toBe('accepts = \\["lossy"\\]');
});
