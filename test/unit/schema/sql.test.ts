import { expect, test } from "vitest";
import { isLiteral, namesIn, castIn, nullWhere, sqlProblem } from "../../../src/schema/sql.ts";
import { hasSecondStatement, longestChain } from "../../../src/features/serve/routes/sql-limits.ts";

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
  ['s = "s"', /^can't hold double quotes, .* write text in 'single quotes', a column's name in `backticks`$/],
  ["length(s", /^has a \( that is not closed$/],
  ["length(s))", /^has a \) that nothing opens$/],
  ["a = 'open", /^has a ' that is not closed$/],
  ["`open = 1", /^has a ` that is not closed$/],
  ["1 -- one", /^can't hold a comment$/],
  ["1 /* one */", /^can't hold a comment$/],
  ["1; drop table t", /^must be one expression, without a semicolon$/],
  ["'-- ; ( \" /*'", undefined],
])("%s is taken, or refused in words", (expression, problem) => {
  if (problem === undefined) expect(sqlProblem(expression)).toBeUndefined();
  else expect(sqlProblem(expression)).toMatch(problem);
});

test.each<[string, number]>([
  ["a", 0],
  ["a + b", 1],
  ["a + b * c, d - e", 2],
  ["a = 1 and b <= 2 or c::int > 3", 2],
  ["'a + b' || `c - d` /* + + */", 1],
])("%s has a chain of %d operators", (expression, length) => {
  expect(longestChain(expression)).toBe(length);
});

test.each(["0", "-1", "+2.50", "'text'", "''", "'it''s'", "true", "FALSE", " 1 "])("%j is a literal", (expression) => {
  expect(isLiteral(expression)).toBe(true);
});

test.each(["null", "a", "1 + 1", "'a' || 'b'", "'a", "1.", "x'37'", "true or a", "", "`1`", "1e400"])(
  "%j is none that is known not to be null",
  (expression) => {
    expect(isLiteral(expression)).toBe(false);
  },
);

test("vowel signs are parts of a name", () => {
  expect(namesIn("कीमत + 1")).toEqual(["कीमत"]);
});

test.each<[string, readonly string[]]>([
  ["a is null", ["a"]],
  ["`A b` IS NULL", ["A b"]],
  ["a is null and b = 'x or y'", ["a"]],
  ["(a is null) AND ((b is null and c > 1))", ["a", "b"]],
  ["c > 1 and (d = 1 or e = 2) and a is null", ["a"]],
  ["not c and a is null", ["a"]],
  ["a is null or b is null", []],
  ["c or d and a is null", []],
  ["(a is null or b) and c", []],
  ["not a is null", []],
  ["not (a is null)", []],
  ["a is not null", []],
  ["a is null = c", []],
  ["s.a is null", []],
  ["a between 1 and b is null", []],
  ["case when c then true else false and a is null and true end", []],
  ["[c and a is null and d][1]", []],
  ["null is null", []],
  ["'a' is null", []],
  ["a = 'b and a is null and c'", []],
  ["", []],
])("%j holds only where these are null: %j", (where, columns) => {
  expect(nullWhere(where)).toEqual(columns);
});

test.each([
  ["id = 1", false],
  ["id = 1; ", false],
  ["id = 1;; -- all", false],
  ["id = 1; DROP TABLE t", true],
  ["id = 1;; x", true],
  ["id = 1;'x'", true],
  ["s = 'a; b'", false],
  ["s = 'it''s; b'", false],
  ["s = 'a\\'; b'", true],
  ['"a; b" = `c; d`', false],
  ["true -- ; x", false],
  ["true -- '\n; x -- '", true],
  ["true /* ; x */", false],
  ["true /* ' */; x /* ' */", true],
  ["true /* ; x", false],
])("whether a second statement follows in %j: %j", (expression, follows) => {
  expect(hasSecondStatement(expression)).toBe(follows);
});

test("megabytes of SQL are searched for a second statement in linear time", () => {
  for (const part of ["''", "a'", "/*", "--", ";", "`", "; "])
    expect(hasSecondStatement(part.repeat(2 ** 18)), part).toBe(false);
  expect(hasSecondStatement(`'${"a".repeat(2 ** 24)}'; x`)).toBe(true);
});

test.each([
  ["c", { name: "c" }],
  [" `the c` ", { name: "the c" }],
  ["cast(c as BIGINT)", { name: "c", type: "bigint" }],
  ["CAST ( `the c` AS int )", { name: "the c", type: "int" }],
  ["try_cast(c as int)", undefined],
  ["cast(c + 1 as int)", undefined],
  ["cast(c as decimal(4, 2))", undefined],
  ["c.d", undefined],
  ["'c'", undefined],
])("the name and the type of a cast in %s", (expression, found) => {
  expect(castIn(expression)).toEqual(found);
});
