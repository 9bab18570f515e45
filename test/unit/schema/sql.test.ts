import { expect, test } from "vitest";
import { namesIn, sqlProblem } from "../../../src/schema/sql.ts";

test.each<[string, readonly string[]]>([
  ["a + b2 * _c", ["a", "b2", "_c"]],
  ["length(`with space`)", ["length", "with space"]],
  ["`back``tick`", ["back`tick"]],
  ["'text with a name' || größe", ["größe"]],
  ["'it''s' || a", ["a"]],
  ["s.x + 1.5e3", ["s", "x", "e3"]],
  ["", []],
])("%j reads %j", (expression, names) => {
  expect(namesIn(expression)).toEqual(names);
});

test.each([
  ["a = 'it''s \"so\"' and `odd \" name` > 1", undefined],
  ["coalesce(nullif(a, ''), (b))", undefined],
  ['s = "s"', /^can't hold double quotes, .* text stands in 'single quotes', a column's name in `backticks`$/],
  ["length(s", /^has a \( that is not closed$/],
  ["length(s))", /^has a \) that nothing opens$/],
  ["a = 'open", /^has a ' that is not closed$/],
  ["`open = 1", /^has a ` that is not closed$/],
  ["1 -- one", /^can't hold a comment$/],
  ["1 /* one */", /^can't hold a comment$/],
  ["1; drop table t", /^has to be one expression, without a semicolon$/],
  ["'-- ; ( \" /*'", undefined],
])("%s is taken, or refused in words", (expression, problem) => {
  if (problem === undefined) expect(sqlProblem(expression)).toBeUndefined();
  else expect(sqlProblem(expression)).toMatch(problem);
});

test("vowel signs are parts of a name", () => {
  expect(namesIn("कीमत + 1")).toEqual(["कीमत"]);
});
