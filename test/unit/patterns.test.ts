/**
 * No regular expression takes more than linear time on text that others send. A checker takes a minute for all of them,
 * so what it found is kept in test/fixtures/patterns.json, and only new ones are checked here. A new one that is safe is
 * added to the list "linear" there; with MIGRATE_LONG=1 the whole list is checked again.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkSync } from "recheck";
import { Project, SyntaxKind } from "ts-morph";
import { expect, test } from "vitest";
import { root } from "../support/project.ts";
import { isLong } from "../support/rounds.ts";

interface Known {
  readonly linear: readonly string[];
  /** What takes longer, or can't be checked, and why it does no harm: the text is short, or the user's own. */
  readonly bounded: Readonly<Record<string, string>>;
}

const known = JSON.parse(readFileSync(join(root, "test/fixtures/patterns.json"), "utf8")) as Known;
const project = new Project({ skipAddingFilesFromTsConfig: true, skipFileDependencyResolution: true });
project.addSourceFilesAtPaths(join(root, "src/**/*.ts"));
const patterns = new Set(
  project
    .getSourceFiles()
    .flatMap((file) => file.getDescendantsOfKind(SyntaxKind.RegularExpressionLiteral))
    .map((literal) => literal.getLiteralText()),
);
const listed = new Set([...known.linear, ...Object.keys(known.bounded)]);

test("every pattern takes linear time, or is listed with the reason why it may take longer", () => {
  process.env["RECHECK_BACKEND"] = "pure";
  const unsafe = [...patterns].filter((pattern) => !listed.has(pattern) && !isLinear(pattern));
  expect(unsafe).toEqual([]);
}, 60_000);

function isLinear(pattern: string): boolean {
  const end = pattern.lastIndexOf("/");
  return checkSync(pattern.slice(1, end), pattern.slice(end + 1), { timeout: 20_000 }).status === "safe";
}

test.runIf(isLong)(
  "every pattern that is listed as linear is",
  () => {
    process.env["RECHECK_BACKEND"] = "pure";
    expect(known.linear.filter((pattern) => !isLinear(pattern))).toEqual([]);
  },
  600_000,
);

test("the checker sees quadratic time", () => {
  process.env["RECHECK_BACKEND"] = "pure";
  expect([/,?\s*(Caused by: ).*/, /a+$/].map(String).filter(isLinear)).toEqual([]);
  expect(isLinear(String(/^a+$/))).toBe(true);
});

test("every listed pattern exists", () => {
  expect([...listed].filter((pattern) => !patterns.has(pattern))).toEqual([]);
});
