/** Marks in sources that report themselves when they are reached: they show which tests execute the place of a mutant. */
import { createHash } from "node:crypto";
import { ts } from "ts-morph";
import { nameOf, parse } from "./draw.ts";
import type { Mutant } from "./mutant.ts";

/** Executed whenever something between `start` and `end` is, other than what a mark inside has. */
interface Mark {
  readonly start: number;
  readonly end: number;
  /** The same as long as its own text is, and the name of the function that it is in. */
  readonly name: string;
  /** What is inserted where. */
  readonly insertions: readonly (readonly [at: number, text: (call: string) => string])[];
}

export function withMarks(file: string, text: string): string {
  const insertions = allMarks(file, text).flatMap(({ name, insertions }) =>
    insertions.map(([at, insertion]) => ({
      at,
      text: insertion(`globalThis.__seen?.(${JSON.stringify(`${file}#${name}`)})`),
    })),
  );
  let marked = text;
  for (const { at, text } of insertions.toSorted((one, other) => other.at - one.at))
    marked = marked.slice(0, at) + text + marked.slice(at);
  return marked;
}

/** The name of the innermost mark around what the mutant changes; undefined where it is at no place of the text. */
export function markOf({ file, find, replace }: Mutant, text: string): string | undefined {
  const same = [...find].findIndex((letter, index) => replace[index] !== letter);
  const at = text.indexOf(find) + Math.max(same, 0);
  const [inner] = allMarks(file, text)
    .filter(({ start, end }) => start <= at && at <= end)
    .toSorted((one, other) => one.end - one.start - (other.end - other.start));
  return inner?.name;
}

/** What all marks of a function begin with. */
export function functionOf(mark: string): string {
  return mark.slice(0, mark.indexOf(".") + 1);
}

/** A file is asked about once for each of its mutants. */
const known = new Map<string, readonly Mark[]>();

function allMarks(file: string, text: string): readonly Mark[] {
  const marks =
    known.get(text) ??
    parse(file, text).statements.flatMap((statement) => {
      const name = nameOf(statement);
      return [...(isCode(statement) ? [before(statement)] : []), ...marksIn(statement)].map((mark) => ({
        ...mark,
        name: `${name}.${hashOf(text.slice(mark.start, mark.end))}`,
      }));
    });
  known.set(text, marks);
  return marks;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 6);
}

type Unnamed = Omit<Mark, "name">;

function marksIn(node: ts.Node): readonly Unnamed[] {
  const found = [...marksOf(node)];
  ts.forEachChild(node, (child) => void found.push(...marksIn(child)));
  return found;
}

function marksOf(node: ts.Node): readonly Unnamed[] {
  if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) return [ofFunction(node, node.body)];
  const parts = "statements" in node ? (node.statements as readonly ts.Statement[]) : [];
  return [...parts.filter(isCode).map(before), ...alone(node).map(inBraces)];
}

function ofFunction(node: ts.Node, body: ts.Node): Unnamed {
  const start = body.getStart();
  if (ts.isBlock(body)) return { ...rangeOf(node), insertions: [[start + 1, (call) => `${call};`]] };
  return {
    ...rangeOf(node),
    insertions: [
      [start, (call) => `(${call}, `],
      [body.getEnd(), () => ")"],
    ],
  };
}

function isCode(statement: ts.Statement): boolean {
  return !(
    ts.isFunctionDeclaration(statement) ||
    ts.isImportDeclaration(statement) ||
    ts.isExportDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement)
  );
}

function before(statement: ts.Statement): Unnamed {
  return { ...rangeOf(statement), insertions: [[statement.getStart(), (call) => `${call};`]] };
}

/** What a condition or a loop is followed by, without braces. */
function alone(node: ts.Node): readonly ts.Statement[] {
  const parts = ts.isIfStatement(node)
    ? [node.thenStatement, node.elseStatement]
    : ts.isIterationStatement(node, false)
      ? [node.statement]
      : [];
  return parts.filter((part) => part !== undefined && !ts.isBlock(part)) as ts.Statement[];
}

function inBraces(statement: ts.Statement): Unnamed {
  return {
    ...rangeOf(statement),
    insertions: [
      [statement.getStart(), (call) => `{ ${call}; `],
      [statement.getEnd(), () => " }"],
    ],
  };
}

function rangeOf(node: ts.Node): Pick<Mark, "start" | "end"> {
  return { start: node.getStart(), end: node.getEnd() };
}
