import { expect, test } from "vitest";
import { breaksIn, cut } from "../../../../src/cli/command/fit.ts";
import { keepSecret } from "../../../../src/secrets/redact.ts";

function wrapped(text: string, columns: number, indent = 2): readonly string[] {
  const breaks = breaksIn(text, columns, indent);
  return [...text]
    .map((character, at) => (breaks.has(at) ? `\n${" ".repeat(indent)}` : character))
    .join("")
    .split("\n");
}

test.each([
  ["one two three", 13, ["one two three"]],
  ["one two three", 12, ["one two", "  three"]],
  ["one two three", 7, ["one two", "  three"]],
  ["one two three", 6, ["one", "  two", "  three"]],
  ["  one two", 8, ["  one", "  two"]],
  ["unbreakable word", 4, ["unbreakable", "  word"]],
  ["日本 日本", 9, ["日本 日本"]],
  ["日本 日本", 8, ["日本", "  日本"]],
  ["", 8, [""]],
])("%j breaks between words in %i columns", (text, columns, lines) => {
  expect(wrapped(text, columns)).toEqual(lines);
});

test.each([
  ["create index", 20, " 1.0 s", "create index 1.0 s"],
  ["create index", 18, " 1.0 s", "create index 1.0 s"],
  ["create index", 17, " 1.0 s", "create in … 1.0 s"],
  ["日本日本", 8, "", "日本日本"],
  ["日本日本", 7, "", "日本 …"],
  ["👍👍👍", 5, "", "👍 …"],
])("%j is cut to %i columns and keeps its end %j", (text, columns, end, line) => {
  expect(cut(text, columns, end)).toBe(line);
});

test("what is left of a cut text holds no part of a secret", () => {
  keepSecret("sk-abcdefghijklmnop");
  expect(cut("calling embed --key sk-abcdefghijklmnop --fast", 30)).toBe("calling embed --key *** --fast");
  expect(cut("calling embed --key sk-abcdefghijklmnop --fast --far", 30)).toBe("calling embed --key *** --fa …");
});
