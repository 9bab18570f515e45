/** Mutants drawn from sources: always the same of the same function, whatever happens to the code around it. */
import { createHash } from "node:crypto";
import { ts } from "ts-morph";
import { changesOf, type Change } from "./changes.ts";
import { planted, type Mutant } from "./mutant.ts";

/** Of how many possible mutants of a function one is drawn. */
export const usualShare = 30;

/** A function at the top of a file, or the rest of what stands there. */
interface Unit {
  readonly name: string;
  readonly isExported: boolean;
  readonly changes: readonly Change[];
}

/**
 * `file`: relative to src. Of each function one in `share` possible mutants is drawn, of each exported one that decides
 * something at least one. Which they are depends on the function's own text.
 */
export function drawMutants(file: string, text: string, share = usualShare): readonly Mutant[] {
  return unitsOf(file, text).flatMap(({ name, isExported, changes }) => {
    const count = Math.max(Math.round(changes.length / share), isExported && changes.length > 0 ? 1 : 0);
    const all = changes.map((change) => toMutant(file, text, name, change));
    return all.toSorted((one, other) => (one.id < other.id ? -1 : 1)).slice(0, count);
  });
}

export function parse(file: string, text: string): ts.SourceFile {
  return ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
}

/** The function around the text at `at`, without comments: what is known of its mutants holds until it changes. */
export function codeAround(text: string, at: number): string {
  const source = parse("some.ts", text);
  const around = source.statements.find((statement) => statement.pos <= at && at < statement.end);
  if (around === undefined) throw new RangeError(`no code at ${at}`);
  return printer.printNode(ts.EmitHint.Unspecified, around, source);
}

const printer = ts.createPrinter({ removeComments: true });

function unitsOf(file: string, text: string): readonly Unit[] {
  return parse(file, text).statements.flatMap((statement): readonly Unit[] => {
    const changes = changesIn(statement);
    if (changes.length === 0) return [];
    const name = nameOf(statement);
    const isExported =
      ts.canHaveModifiers(statement) &&
      (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    return [{ name, isExported, changes }];
  });
}

/** Of what stands at the top of a file. */
export function nameOf(statement: ts.Statement): string {
  if (ts.isFunctionDeclaration(statement)) return statement.name?.text ?? "default";
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations[0]!.name.getText();
  return "module";
}

function changesIn(node: ts.Node): readonly Change[] {
  if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return [];
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return [];
  const found = [...changesOf(node)];
  ts.forEachChild(node, (child) => void found.push(...changesIn(child)));
  return found;
}

function toMutant(file: string, text: string, name: string, change: Change): Mutant {
  const { find, replace } = unique(text, change);
  const hash = createHash("sha256")
    .update(JSON.stringify([name, find, replace]))
    .digest("hex")
    .slice(0, 6);
  return { id: hash, does: `${name}: ${change.does}`, file, find, replace };
}

/** The change with as much of the text around it as makes it occur once. */
function unique(text: string, { start, end, text: new_ }: Change): Pick<Mutant, "find" | "replace"> {
  for (let [from, to] = [start, end]; ; [from, to] = wider(text, from, to)) {
    const find = text.slice(from, to);
    const replace = text.slice(from, start) + new_ + text.slice(end, to);
    if (planted(text, { find, replace }) !== undefined) return { find, replace };
  }
}

/** First its whole lines, then one more line before it each time. */
function wider(text: string, from: number, to: number): [number, number] {
  const lineStart = text.lastIndexOf("\n", from - 1) + 1;
  const lineEnd = text.indexOf("\n", to);
  if (lineEnd !== to || lineStart !== from) return [lineStart, lineEnd];
  return [text.lastIndexOf("\n", from - 2) + 1, to];
}
