import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { ignoredAt, ignoresIn } from "../../../../../src/features/lint/source/lint-ignores.ts";
import {
  callsIn,
  positionOfAfter,
  positionOfExport,
  positionOfWord,
} from "../../../../../src/features/lint/source/source-positions.ts";

const text = `import * as m from "lance-migrate";

// export const up = [];
/* of all */ export const accepts = ["lossy"];
  export let up: readonly m.Step[] = [
  m.renameColumn("title", "source.title", \`${"${title}"}\`), title(),
  // lint-ignore one, other-rule: they are meant
  //   and here is why
  m.dropColumn("t", /* ), title */ "it's (", { title: ")" }), // lint-ignore third
  m.dropColumn("t",
    "titles",
    "title");
`;

test.each([
  ["exports.up = [];", 9],
  ["  module.exports.up = [];", 18],
  ["module.exports = { accepts: [], up: [] };", 33],
  ["export default { up, down };", 18],
  ["const up = []; // none\nexport { upper, up };", 17],
  ["export default { accepts: ['up'], down: [] };", undefined],
])("other ways to export are found too: %s", (own, column) => {
  const line = own.split("\n").length;
  expect(positionOfExport(own, "up")).toEqual(column === undefined ? { line: 1, column: 1 } : { line, column });
});

test.each([
  { title: "the table", line: 6, word: "title", isFirst: true, place: { line: 6, column: 19 } },
  { title: "a part of a path", line: 6, word: "title", place: { line: 6, column: 35 } },
  { title: "what is behind the call", line: 9, word: "third", place: { line: 9, column: 3 } },
  { title: "what is in brackets and on another line", line: 10, word: "title", place: { line: 12, column: 6 } },
  { title: "a word with signs in it", line: 9, word: "it's (", place: { line: 9, column: 37 } },
  { title: "a word that is not there", line: 6, word: "titel", place: { line: 6, column: 3 } },
])("of a call the word is found: $title", ({ line, word, isFirst, place }) => {
  expect(positionOfWord(text, { line, column: 3 }, word, isFirst)).toEqual(place);
});

test("a place behind the end of a file that was changed meanwhile is taken as it is", () => {
  expect(positionOfWord("", { line: 9, column: 9 }, "title")).toEqual({ line: 9, column: 9 });
  expect(ignoredAt("", ignoresIn(text), { line: 99, column: 9 })).toEqual([]);
});

test("comments count on the line itself and right above it", () => {
  const ignores = ignoresIn(text);
  expect(ignoredAt(text, ignores, { line: 9, column: 3 })).toEqual(["one", "other-rule", "third"]);
  expect(ignoredAt(text, ignores, { line: 6, column: 3 })).toEqual([]);
  expect(ignores).toEqual([
    { rule: "one", place: { line: 7, column: 18 } },
    { rule: "other-rule", place: { line: 7, column: 23 } },
    { rule: "third", place: { line: 9, column: 78 } },
  ]);
});

test("what looks like a comment inside of a text or of another comment is none", () => {
  const own = [`m.dropColumn("t", "// lint-ignore one"),`, "/* // lint-ignore two */", "m.x(`// lint-ignore three`)"];
  expect(ignoresIn(own.join("\n"))).toEqual([]);
});

test.each([
  ["/// lint-ignore one", 17],
  ["// more // lint-ignore one", 24],
  ["x.replace(/`/, ''), // lint-ignore one", 36],
  ["x.replace(/'/g, y), // lint-ignore one\r", 36],
])("whatever stands in front of it, a comment counts: %s", (line, column) => {
  expect(ignoresIn(`\n${line}\n\`\n`)).toEqual([{ rule: "one", place: { line: 2, column } }]);
});

test.each([
  ["the list that is wrong", `export const down = after("0002");\nexport const up = after("0002");`, 2, 26],
  ["no comment", `// it was after("0002", …)\nexport const up = after(\n  "0002",\n);`, 3, 4],
  ["no export in a comment", `/*\nexport const up = after("0002");\n*/\nexport const up = after("0002");`, 4, 26],
])("of after() the place is that in %s", (_, own, line, column) => {
  expect(positionOfAfter(own, "0002")).toEqual({ line, column });
});

test("a name is found as a whole text before it is found in a path, and a path by its last part", () => {
  const call = `m.alterColumns("d", [\n  { path: "s.x", rename: "xx" },\n  { path: "s", rename: "t" },\n])`;
  const found = (word: string) => positionOfWord(call, { line: 1, column: 1 }, word);
  expect(found("s")).toEqual({ line: 3, column: 12 });
  expect(found("s.x")).toEqual({ line: 2, column: 12 });
  expect(found("other.x")).toEqual({ line: 2, column: 14 });
});

test("of the calls that led to a step those in the file count, with what stands before the dot", () => {
  const path = "/migrations/0001 a.ts";
  const file = `${pathToFileURL(path).href}?0123&calls`;
  const calls = [
    { file: "node:internal", line: 1, column: 1 },
    { file, line: 6, column: 5 },
    { file: `${pathToFileURL("/migrations/0001 ab.ts").href}`, line: 6, column: 5 },
    { file: path, line: 6, column: 61 },
  ];
  expect(callsIn(path, text, calls)).toEqual([
    { line: 6, column: 3 },
    { line: 6, column: 61 },
  ]);
});
