/**
 * No regular expression takes more than linear time on text that others send. A checker takes a minute for all of them,
 * so what it found is kept in test/fixtures/patterns.json, and only new ones are checked here. A new one that is safe is
 * added to the list "linear" there; with MIGRATE_LONG=1 the whole list is checked again.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checkSync } from "recheck";
import { ts } from "ts-morph";
import { expect, test } from "vitest";
import { lacks } from "../support/needs.ts";
import { root } from "../support/project.ts";

interface Known {
  readonly linear: readonly string[];
  /** What takes longer, or can't be checked, and why it does no harm: the text is short, or the user's own. */
  readonly bounded: Readonly<Record<string, string>>;
}

const known = JSON.parse(readFileSync(join(root, "test/fixtures/patterns.json"), "utf8")) as Known;
const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".ts"),
);
const patterns = new Set(sources.flatMap((file) => patternsIn(readFileSync(join(root, "src", file), "utf8"))));

function patternsIn(text: string): readonly string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) found.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("source.ts", text, ts.ScriptTarget.Latest));
  return found;
}
const listed = new Set([...known.linear, ...Object.keys(known.bounded)]);

test("every pattern takes linear time, or is listed with the reason why it may take longer", () => {
  process.env["RECHECK_BACKEND"] = "pure";
  const unsafe = [...patterns].filter((pattern) => !listed.has(pattern) && !isLinear(pattern));
  expect(unsafe).toEqual([]);
});

function isLinear(pattern: string): boolean {
  const end = pattern.lastIndexOf("/");
  return checkSync(pattern.slice(1, end), pattern.slice(end + 1), { timeout: null }).status === "safe";
}

test.skipIf(lacks("long"))("every pattern that is listed as linear is", () => {
  process.env["RECHECK_BACKEND"] = "pure";
  expect(known.linear.filter((pattern) => !isLinear(pattern))).toEqual([]);
});

test("the checker sees quadratic time", () => {
  process.env["RECHECK_BACKEND"] = "pure";
  expect([/,?\s*(Caused by: ).*/, /a+$/].map(String).filter(isLinear)).toEqual([]);
  expect(isLinear(String(/^a+$/))).toBe(true);
});

test("every listed pattern exists", () => {
  expect([...listed].filter((pattern) => !patterns.has(pattern))).toEqual([]);
});
