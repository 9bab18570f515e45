import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { codeAround, drawMutants, parse } from "./draw.ts";
import { equivalents } from "./equivalent.ts";
import { markOf, withMarks } from "./marks.ts";
import { planted, type Mutant } from "./mutant.ts";
import { beside, pool, sources } from "./reach.ts";
import { reviewMutants } from "./review.ts";
import { root } from "./tree.ts";

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

test("every test that is added to those of units and commands exists", () => {
  const added = pool.filter((file) => /^(contract|fault)\//.test(file));
  const braces = beside.map((names) => names.slice(names.indexOf("{") + 1, -1).split(",").length);
  expect(added).toHaveLength(braces.reduce((sum, count) => sum + count, 0));
});

test("every mutant is a program that differs", () => {
  const broken = [...reviewMutants, ...drawn].filter((mutant) => {
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

test("sources with marks are programs, and every mutant has a mark", () => {
  expect(sources.filter((file) => syntaxErrors(withMarks(file, textOf(file))) > 0)).toEqual([]);
  const unmarked = drawn.filter((mutant) => markOf(mutant, textOf(mutant.file)) === undefined);
  expect(unmarked.map(nameOf)).toEqual([]);
});

const small = `export function isLate(now: number, limit?: number): boolean {
  if (limit === undefined) return false;
  return now > limit;
}
`;

test("each kind of change of a function is possible", () => {
  expect(
    drawMutants("small.ts", small, 0.1)
      .map(({ does }) => does)
      .toSorted(),
  ).toEqual([
    "isLate: limit === undefined has !== for ===",
    "isLate: limit === undefined is always false",
    "isLate: limit === undefined is always true",
    "isLate: now > limit has <= for >",
    "isLate: now > limit has >= for >",
    "isLate: return false; has true",
  ]);
});

test("what is drawn of a function does not depend on the code around it", () => {
  const other = `const before = 1 < 2;\n\n${small}\nexport const after = [1].filter((one) => one > 1);\n`;
  const changes = (text: string) =>
    drawMutants("small.ts", text, 3)
      .filter(({ does }) => does.startsWith("isLate"))
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
