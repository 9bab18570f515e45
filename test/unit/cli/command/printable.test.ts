import { assert, constantFrom, oneof, property, string } from "fast-check";
import { expect, test } from "vitest";
import { printable, printableLine } from "../../../../src/cli/command/printable.ts";

test.each([
  ["\u001b[31mred", "\\u001b[31mred"],
  ["\u001b]0;title\u0007", "\\u001b]0;title\\u0007"],
  ["a\r\nb\tc", "a\\r\\nb\\tc"],
  ["\u009b2J\u0085\u007f", "\\u009b2J\\u0085\\u007f"],
  ["\u202eright\u2066to left", "\\u202eright\\u2066to left"],
  ["a\u2028b\u2029c", "a\\u2028b\\u2029c"],
  ["zero\u200bwidth\ufeff and soft\u00ad", "zero\\u200bwidth\\ufeff and soft\\u00ad"],
  ["a filler \u3164 and a tag \u{e0041}", "a filler \\u3164 and a tag \\udb40\\udc41"],
  ["half \ud83d of a character", "half \\ud83d of a character"],
  ["##vso[task.setvariable]a", "#\\u0023vso[task.setvariable]a"],
  ["a ##[error]b", "a #\\u0023[error]b"],
])("%j is printed as %s", (text, shown) => {
  expect(printable(text)).toBe(shown);
  expect(printableLine(text)).toBe(shown);
});

test.each(["C:\\new\\table", "日本 🔑 ünïcode", "a::b ## c", "# [1]", 'it\'s "quoted" `so`', ""])(
  "%j is printed as it is",
  (text) => {
    expect(printableLine(text)).toBe(text);
  },
);

test.each([
  ["::error::a", "\\u003a:error::a"],
  [" \u00a0::error::a", " \u00a0\\u003a:error::a"],
])("the line %j is no command", (line, shown) => {
  expect(printableLine(line)).toBe(shown);
});

test("no text is obeyed, whatever it is", () => {
  const text = oneof(string({ unit: "binary" }), string({ unit: constantFrom(..."\u001b\u009b\n:# [error") }));
  assert(
    property(text, (line) => {
      const shown = printableLine(line);
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|^\s*::|##\w*\[/u);
      expect(printableLine(shown)).toBe(shown);
    }),
  );
});

test("a JSON text has the same value", () => {
  assert(
    property(string({ unit: "binary" }), (text) => {
      const json = JSON.stringify({ [text]: [text, `##vso[x]\u2028${text}`] });
      expect(JSON.parse(printable(json))).toEqual(JSON.parse(json));
    }),
  );
});
