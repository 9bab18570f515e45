/** The changes that can be made to a piece of source, each of which should be noticed: the operators of mutation testing. */
import { ts } from "ts-morph";

export interface Change {
  /** What becomes of it, as in "is always true". */
  readonly does: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** What is around it: an expression or statements, of which there can be two versions side by side. */
  readonly around: Range;
}

export interface Range {
  readonly start: number;
  readonly end: number;
  readonly isExpression: boolean;
}

const { SyntaxKind } = ts;

const opposites = new Map<ts.SyntaxKind, readonly string[]>([
  [SyntaxKind.EqualsEqualsEqualsToken, ["!=="]],
  [SyntaxKind.ExclamationEqualsEqualsToken, ["==="]],
  [SyntaxKind.LessThanToken, ["<=", ">="]],
  [SyntaxKind.LessThanEqualsToken, ["<", ">"]],
  [SyntaxKind.GreaterThanToken, [">=", "<="]],
  [SyntaxKind.GreaterThanEqualsToken, [">", "<"]],
  [SyntaxKind.AmpersandAmpersandToken, ["||"]],
  [SyntaxKind.BarBarToken, ["&&"]],
  [SyntaxKind.PlusToken, ["-"]],
  [SyntaxKind.MinusToken, ["+"]],
]);

const otherMethods = new Map([
  ["some", "every"],
  ["every", "some"],
  ["find", "findLast"],
  ["findLast", "find"],
  ["findIndex", "findLastIndex"],
  ["findLastIndex", "findIndex"],
  ["startsWith", "endsWith"],
  ["endsWith", "startsWith"],
  ["max", "min"],
  ["min", "max"],
]);

/** Calls that can be left out: what they are called on has the same type. */
const omissible = new Set(["filter", "slice", "toSorted", "toReversed", "concat", "trim"]);

/** Every change of this node itself, not of what is in it. */
export function changesOf(node: ts.Node): readonly Change[] {
  return [
    ...ofConditions(node),
    ...ofOperators(node),
    ...ofCalls(node),
    ...ofStatements(node),
    ...ofLiterals(node),
    ...ofOrder(node),
  ];
}

function change(node: ts.Node, text: string, does: string, around: Range = aroundOf(node)): Change {
  return { start: node.getStart(), end: node.getEnd(), text, does, around };
}

function becomes(node: ts.Node, text: string): Change {
  return change(node, text, `${brief(node)} becomes ${short(text)}`);
}

/** A chain with `?.` ends as a whole, so it is one expression with all that follows. */
function aroundOf(node: ts.Node): Range {
  const { parent } = node;
  const isPart =
    (ts.isPropertyAccessExpression(parent) || ts.isElementAccessExpression(parent) || ts.isCallExpression(parent)) &&
    parent.expression === node;
  if ((isPart && ts.isOptionalChain(parent)) || (ts.isNonNullExpression(parent) && ts.isOptionalChain(parent)))
    return aroundOf(parent);
  return { start: node.getStart(), end: node.getEnd(), isExpression: !ts.isStatement(node) };
}

function brief(node: ts.Node): string {
  return short(node.getText());
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

function ofConditions(node: ts.Node): readonly Change[] {
  const condition = conditionOf(node);
  if (condition === undefined) return [];
  return ["true", "false"].map((value) => change(condition, value, `${brief(condition)} is always ${value}`));
}

function conditionOf(node: ts.Node): ts.Expression | undefined {
  if (ts.isIfStatement(node)) return node.expression;
  return ts.isConditionalExpression(node) ? node.condition : undefined;
}

function ofOperators(node: ts.Node): readonly Change[] {
  if (!ts.isBinaryExpression(node)) return [];
  const { left, operatorToken, right } = node;
  if (operatorToken.kind === SyntaxKind.QuestionQuestionToken)
    return [left, right].map((part) => change(node, part.getText(), `${brief(node)} is just ${brief(part)}`));
  // Text that is put together is not a calculation.
  if (operatorToken.kind === SyntaxKind.PlusToken && [left, right].some(ts.isStringLiteralLike)) return [];
  return (opposites.get(operatorToken.kind) ?? []).map((text) =>
    change(operatorToken, text, `${brief(node)} has ${text} for ${operatorToken.getText()}`, aroundOf(node)),
  );
}

function ofCalls(node: ts.Node): readonly Change[] {
  if ((ts.isPropertyAccessExpression(node) || ts.isCallExpression(node)) && node.questionDotToken !== undefined) {
    const text = ts.isCallExpression(node) ? "" : ".";
    return [change(node.questionDotToken, text, `${brief(node)} has no ?.`, aroundOf(node))];
  }
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return [];
  const { expression, name } = node.expression;
  const other = otherMethods.get(name.text);
  if (other !== undefined) return [change(name, other, `${brief(node)} calls ${other}`, aroundOf(node))];
  if (name.text === "at" && node.arguments[0]?.getText() === "-1") return [becomes(node.arguments[0], "0")];
  return omissible.has(name.text) ? [change(node, expression.getText(), `${brief(node)} has no ${name.text}`)] : [];
}

function ofStatements(node: ts.Node): readonly Change[] {
  if (ts.isExpressionStatement(node)) return [change(node, ";", `${brief(node)} is left out`)];
  if (ts.isSpreadElement(node) || ts.isSpreadAssignment(node)) {
    const nothing = ts.isSpreadAssignment(node) ? "{}" : "[]";
    return ts.isCallExpression(node.parent) ? [] : [change(node.expression, nothing, `${brief(node)} is left out`)];
  }
  if (!ts.isReturnStatement(node) || node.expression === undefined) return [];
  // What a function returns at its end is in all of its tests, and a return before that may be in none.
  const value = node.expression.getText();
  return isAtEnd(node) || value === "undefined" || value === "true" || value === "false"
    ? []
    : [change(node, "return undefined;", `undefined is returned for ${short(value)}`)];
}

function isAtEnd(node: ts.Node): boolean {
  return ts.isBlock(node.parent) && ts.isFunctionLike(node.parent.parent);
}

function ofLiterals(node: ts.Node): readonly Change[] {
  if (node.kind === SyntaxKind.TrueKeyword) return [change(node, "false", `${brief(node.parent)} has false`)];
  if (node.kind === SyntaxKind.FalseKeyword) return [change(node, "true", `${brief(node.parent)} has true`)];
  // Larger numbers are times, lengths and limits, and most of them could be others.
  if (!ts.isNumericLiteral(node) || Number(node.text) > 2 || isName(node)) return [];
  const other = node.text === "0" ? "1" : `(${node.getText()} + 1)`;
  return [change(node, other, `${brief(node.parent)} has ${other} for ${node.getText()}`)];
}

function isName(node: ts.Node): boolean {
  const { parent } = node;
  return (ts.isBindingElement(parent) && parent.propertyName === node) || ("name" in parent && parent.name === node);
}

/** Two things that are waited for, one after the other, change places. */
function ofOrder(node: ts.Node): readonly Change[] {
  if (!ts.isBlock(node) && !ts.isSourceFile(node)) return [];
  return node.statements.flatMap((first, index): readonly Change[] => {
    const second = node.statements[index + 1];
    if (second === undefined || !waits(first) || !waits(second)) return [];
    const text = `${second.getText()} ${first.getText()}`;
    const around = { start: first.getStart(), end: second.getEnd(), isExpression: false };
    return [{ start: around.start, end: around.end, text, does: `${brief(second)} comes before the other`, around }];
  });
}

function waits(statement: ts.Statement): boolean {
  return ts.isExpressionStatement(statement) && ts.isAwaitExpression(statement.expression);
}
