/** No test fails only because the machine is busy: none has a limit of time besides that of vitest.config.ts, which a hanging one meets. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ts } from "ts-morph";
import { expect, test } from "vitest";
import { root } from "../support/project.ts";

const limited = /^(test|describe|before|after|beforeEach|beforeAll|afterEach|afterAll)\b|^expect\s*\.poll$/;

/** The limits in a file of tests: a number or an option `timeout` beside a function, or a clock that must show less than something. */
function limitsIn(text: string): readonly string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && isLimited(node)) found.push(node.getText().slice(0, 80));
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("a.test.ts", text, ts.ScriptTarget.Latest, true));
  return found;
}

function isLimited({ expression, arguments: given }: ts.CallExpression): boolean {
  if (ts.isPropertyAccessExpression(expression) && expression.name.text.startsWith("toBeLess"))
    return /(performance|Date)\.now\(\) - /.test(expression.getText());
  const isLimit = (one: ts.Node) =>
    ts.isNumericLiteral(one) ||
    ts.isBinaryExpression(one) ||
    (ts.isObjectLiteralExpression(one) && /\btimeout\b/.test(one.getText()));
  return (
    limited.test(expression.getText()) && given.some((one) => ts.isArrowFunction(one)) && given.slice(1).some(isLimit)
  );
}

const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" }).filter(
  (name) => /(\.test|suite)\.ts$/.test(name) && !/^\.cache|node_modules/.test(name),
);

test("no test has a limit of time of its own", () => {
  const limits = files.flatMap((file) =>
    limitsIn(readFileSync(join(root, "test", file), "utf8")).map((one) => `${file}: ${one}`),
  );
  expect(limits).toEqual([]);
});

test.each([
  'test("a", async () => {}, 60_000);',
  'test.each([1])("a", { timeout: 60_000 }, () => {});',
  "beforeAll(() => {}, 2 * 60_000);",
  "await expect.poll(() => 1, { timeout: 5_000 }).toBe(1);",
  "expect(performance.now() - started).toBeLessThan(1_000);",
])("a limit is found: %s", (text) => {
  expect(limitsIn(text)).toHaveLength(1);
});
