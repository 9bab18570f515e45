/** No test is skipped everywhere: what a test can be skipped without is there every night. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ts } from "ts-morph";
import { afterEach, expect, test, vi } from "vitest";
import { filesThatNeed } from "../../site/reference/needs-table.ts";
import { groups } from "../files.ts";
import { parts } from "../parts.ts";
import { lacks, needs, variableOf } from "../support/needs.ts";
import { root } from "../support/project.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

test("every night requires what tests need, in the parts that run them", () => {
  for (const group of Object.keys(groups))
    expect(parts[group]).toEqual(expect.arrayContaining([...needs.keys()].map((need) => `${variableOf(need)}=1`)));
});

test("every need is one of a test", () => {
  expect([...needs.keys()].filter((need) => filesThatNeed(need).length === 0)).toEqual([]);
});

const folder = join(root, "test");
const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
  (file) => file.endsWith(".ts") && !file.startsWith(".cache"),
);

test("no test is skipped in another way than by what it needs", () => {
  const found = files.flatMap((file) =>
    skipsIn(readFileSync(join(folder, file), "utf8")).map((text) => `${file}: ${text}`),
  );
  expect(found).toEqual([]);
});

test.each([
  "test.skipIf(!isLong)('a', f)",
  "describe.runIf(isLong)('a', f)",
  "test.skip('a', f)",
  "test.skip.each([1])('a', f)",
  "test.todo('a')",
  "test('a', ({ skip }) => { if (!isThere) skip('it is not there'); })",
  "test('a', (context) => { if (!isThere) context.skip(); })",
  "test('a', { skip: true }, f)",
  "test('a', { ['skip']: true }, f)",
  "test('a', ({ skip: no }) => { if (!isThere) no('it is not there'); })",
  "test('a', ({ skip }) => { if (!isThere || lacks('zsh')) skip(); })",
])("a test must not be skipped with %s", (text) => {
  expect(skipsIn(text)).toHaveLength(1);
});

const skips = /^(skip|skipIf|runIf|todo)$/;

/** Where Vitest is asked to skip something, and no `lacks(…)` decides it. */
function skipsIn(text: string): readonly string[] {
  if (!/skip|runIf|todo/.test(text)) return [];
  const found: string[] = [];
  const visit = (node: ts.Node, isDecided: boolean): void => {
    const isSkip =
      ((ts.isPropertyAccessExpression(node) || ts.isPropertyAssignment(node)) && skips.test(nameIn(node))) ||
      // Under another name.
      (ts.isBindingElement(node) && node.propertyName?.getText() === "skip") ||
      (ts.isCallExpression(node) && node.expression.getText() === "skip");
    if (isSkip && !isDecided) found.push(node.getText().split("\n", 1)[0]!);
    const decides =
      (ts.isIfStatement(node) && operandsOf(node.expression).some((one) => one.startsWith("lacks("))) ||
      (ts.isCallExpression(node) && node.arguments[0]?.getText().startsWith("lacks(") === true);
    ts.forEachChild(node, (child) => visit(child, isDecided || decides));
  };
  visit(ts.createSourceFile("test.ts", text, ts.ScriptTarget.Latest, true), false);
  return found;
}

function nameIn({ name }: ts.PropertyAccessExpression | ts.PropertyAssignment): string {
  return ts.isComputedPropertyName(name) ? name.expression.getText().slice(1, -1) : name.getText();
}

/** All of which must hold. */
function operandsOf(condition: ts.Expression): readonly string[] {
  const isAnd =
    ts.isBinaryExpression(condition) && condition.operatorToken.kind === ts.SyntaxKind.AmpersandAmpersandToken;
  return isAnd ? [...operandsOf(condition.left), ...operandsOf(condition.right)] : [condition.getText()];
}

test("a test without what it needs is skipped with the reason, and fails where that is required", () => {
  const warn = vi.spyOn(console, "warn").mockReturnValue();
  vi.stubEnv("REQUIRE_CONTAINERS", undefined);
  expect(lacks("containers", "none runs here")).toBe(true);
  expect(warn.mock.lastCall).toEqual(["skipped: none runs here"]);
  vi.stubEnv("REQUIRE_CONTAINERS", "1");
  expect(() => lacks("containers", "none runs here")).toThrow("REQUIRE_CONTAINERS=1, but none runs here");
  expect(lacks("containers")).toBe(false);
});

test("what takes minutes is skipped unless it is required", () => {
  const warn = vi.spyOn(console, "warn").mockReturnValue();
  vi.stubEnv("REQUIRE_RAY", "0");
  expect(lacks("ray")).toBe(true);
  expect(warn.mock.lastCall).toEqual([expect.stringContaining("set REQUIRE_RAY=1")]);
  vi.stubEnv("REQUIRE_RAY", "1");
  expect(lacks("ray")).toBe(false);
});

test("a command that is missing is named", () => {
  const warn = vi.spyOn(console, "warn").mockReturnValue();
  for (const name of ["PATH", "REQUIRE_ZSH"]) vi.stubEnv(name, "");
  expect(lacks("zsh")).toBe(true);
  expect(warn.mock.lastCall).toEqual(["skipped: there is no command zsh"]);
});
