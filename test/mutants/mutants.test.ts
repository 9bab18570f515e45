import { existsSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { codeAround, drawMutants, parse } from "./draw.ts";
import { equivalents } from "./equivalent.ts";
import { keyOf, planted, type Mutant } from "./mutant.ts";
import { sources } from "./reach.ts";
import { reviewMutants } from "./review.ts";
import { readResults } from "./state.ts";
import { withSwitches } from "./switches.ts";
import { root } from "./tree.ts";
import { ofThisCommit } from "../support/rounds.ts";

const textOf = (file: string) => readFileSync(join(root, "src", file), "utf8");
const drawn = sources.flatMap((file) => drawMutants(file, textOf(file)));
const nameOf = ({ file, id, does }: Mutant) => `${file} ${id}: ${does}`;

function syntaxErrors(text: string): number {
  const { parseDiagnostics } = parse("some.ts", text) as unknown as { readonly parseDiagnostics: readonly unknown[] };
  return parseDiagnostics.length;
}

test("the text of every mutant of the review occurs once", () => {
  const lost = reviewMutants.filter((mutant) => planted(textOf(mutant.file), mutant) === undefined);
  expect(lost.map(nameOf)).toEqual([]);
});

test("every test that a mutant of the review names exists", () => {
  const named = reviewMutants.flatMap(({ killedBy = [] }) => killedBy);
  expect(named.filter((file) => !existsSync(join(root, "test", file)))).toEqual([]);
});

test("every mutant is a program that differs", () => {
  const broken = [...reviewMutants, ...ofThisCommit(drawn, 4)].filter((mutant) => {
    const changed = planted(textOf(mutant.file), mutant);
    return changed === textOf(mutant.file) || syntaxErrors(changed!) > 0;
  });
  expect(broken.map(nameOf)).toEqual([]);
});

test("no two mutants of a file have one name", () => {
  const names = drawn.map(({ file, id }) => `${file} ${id}`);
  expect(names.filter((name, index) => names.indexOf(name) < index)).toEqual([]);
});

test("every mutant of which a survivor is excused is drawn", () => {
  const isDrawn = (file: string, id: string) => drawn.some((mutant) => mutant.file === file && mutant.id === id);
  expect(equivalents.filter(({ file, id }) => !isDrawn(file, id))).toEqual([]);
});

test("sources with the switches of all that could be drawn are programs", () => {
  const all = (file: string) => withSwitches(textOf(file), drawMutants(file, textOf(file), 0.5));
  expect(ofThisCommit(sources, 8).filter((file) => syntaxErrors(all(file)) > 0)).toEqual([]);
});

test("a switch turns its mutant on, and no other", () => {
  const mutants = drawMutants("small.ts", small, 0.5);
  const program = stripTypeScriptTypes(withSwitches(small, mutants)).replace("export ", "");
  const holds = new Function("globalThis", "now", "limit", `${program} return isLate(now, limit);`) as IsLate;
  const resultsOf = (__mutant?: (key: string) => boolean) =>
    [[1], [1, 1], [2, 1]].map(([now, limit]) => holds({ __mutant }, now!, limit));
  expect(resultsOf()).toEqual([false, false, true]);
  const withOne = mutants.map(({ does, ...mutant }) => [does, resultsOf((key) => key === keyOf(mutant))]);
  expect(Object.fromEntries(withOne)).toEqual({
    "limit === undefined has !== for ===": [false, false, false],
    "limit === undefined is always false": [false, false, true],
    "limit === undefined is always true": [false, false, false],
    "now > limit has <= for >": [false, true, false],
    "now > limit has >= for >": [false, true, true],
    "return false; has true": [true, false, true],
  });
});

const known = Object.keys(readResults());

test("what is known is of existing mutants", () => {
  const keys = new Set([...reviewMutants, ...drawn].map(keyOf));
  // `npm run mutants -- --report --save` drops the others.
  expect(known.filter((key) => !keys.has(key))).toEqual([]);
});

type IsLate = (global: object, now: number, limit: number | undefined) => boolean;

const small = `export function isLate(now: number, limit?: number): boolean {
  if (limit === undefined) return false;
  return now > limit;
}
`;

test("each kind of change of a function is possible", () => {
  expect(
    drawMutants("small.ts", small, 0.5)
      .map(({ does }) => does)
      .toSorted(),
  ).toEqual([
    "limit === undefined has !== for ===",
    "limit === undefined is always false",
    "limit === undefined is always true",
    "now > limit has <= for >",
    "now > limit has >= for >",
    "return false; has true",
  ]);
});

test("what is drawn of a function does not depend on the code around it", () => {
  const other = `const before = 1 < 2;\n\n${small}\nexport const after = [1].filter((one) => one > 1);\n`;
  const changes = (text: string) =>
    drawMutants("small.ts", text, 1)
      .filter(({ id }) => id.startsWith("isLate"))
      .map(({ id, does }) => [id, does]);
  expect(changes(other)).toEqual(changes(small));
});

test("what is known of a mutant holds while only comments and other functions change", () => {
  const at = (text: string) => text.indexOf("limit === undefined");
  const commented = small.replace("  if", "  // Without a limit nothing is late.\n  if");
  const others = `const one = 1;\n${commented}const two = 2;\n`;
  expect(codeAround(others, at(others))).toBe(codeAround(small, at(small)));
  const changed = small.replace("now > limit", "now >= limit");
  expect(codeAround(changed, at(changed))).not.toBe(codeAround(small, at(small)));
});
