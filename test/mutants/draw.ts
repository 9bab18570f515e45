/** Mutants drawn from sources: always the same of the same function, whatever happens to the code around it. */
import { createHash } from "node:crypto";
import { ts } from "ts-morph";
import { changesOf, type Change } from "./changes.ts";
import { planted, type Mutant, type NamedMutant } from "./mutant.ts";

/** Of how many possible mutants of a room that writes, or that decides what is written, one is drawn. */
export const usualShare = 40;
/** Of the other rooms it is one in twice as many. */
export const writing: readonly string[] = [
  "actions",
  "features/embed",
  "features/rest",
  "ledger",
  "plan",
  "run",
  "targets",
  "wire",
];

/** A mutant with the place of the change, so that it can stand beside the original. */
export interface DrawnMutant extends Mutant {
  readonly change: Change;
  /** Whether it is in no function: it runs when the module is loaded. */
  readonly isAtTop: boolean;
}

/** `file`: relative to src. Which ones are drawn depends on the text of each function. */
export function drawMutants(file: string, text: string, share = usualShare): readonly DrawnMutant[] {
  const most = (isWriting(file) ? 1 : 0.5) / share;
  const drawn = possibleMutants(file, text).filter(({ id }) => fraction(id.slice(id.lastIndexOf(".") + 1)) < most);
  return drawn.filter((one, index) => !drawn.slice(0, index).some((other) => areEntangled(one, other)));
}

/** Of a hash in hexadecimal digits, between 0 and 1. */
function fraction(hash: string): number {
  return Number.parseInt(hash, 16) / 16 ** hash.length;
}

/** Code in a page knows nothing of the processes of tests, so a mutant of it is planted alone, and these tests are run. */
export function inPage({ file, id, does, find, replace }: DrawnMutant): NamedMutant | undefined {
  const killedBy = ["report", "report-pending", "fleet-report"].map((name) => `e2e/${name}.test.ts`);
  return file.startsWith("features/report/browser/") ? { file, id, does, find, replace, killedBy } : undefined;
}

export function isWriting(file: string): boolean {
  return writing.includes(roomOf(file));
}

/** The first folder of a file in src, or the feature. */
export function roomOf(file: string): string {
  return /^(?:features\/)?[^/]+/.exec(file)![0];
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

function possibleMutants(file: string, text: string): readonly DrawnMutant[] {
  return parse(file, text).statements.flatMap((statement) => {
    const name = nameOf(statement);
    const times = new Map<string, number>();
    return changesIn(statement).map(({ change, isAtTop }) => {
      const both = changed(text, change);
      const time = (times.get(both) ?? 0) + 1;
      times.set(both, time);
      const id = `${name}.${hashOf([name, both, time])}`;
      return { id, file, does: change.does, ...unique(text, change), change, isAtTop };
    });
  });
}

/** Of what stands at the top of a file. */
export function nameOf(statement: ts.Statement): string {
  if (ts.isFunctionDeclaration(statement)) return statement.name?.text ?? "default";
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations[0]!.name.getText();
  return "module";
}

type Placed = Pick<DrawnMutant, "change" | "isAtTop">;

function changesIn(node: ts.Node, isAtTop = true): readonly Placed[] {
  if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return [];
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return [];
  const found = changesOf(node).map((change) => ({ change, isAtTop }));
  ts.forEachChild(node, (child) => void found.push(...changesIn(child, isAtTop && !ts.isFunctionLike(node))));
  return found;
}

/** What is around the change, with it: the same wherever the function is. */
function changed(text: string, { start, end, text: new_, around }: Change): string {
  return JSON.stringify([
    text.slice(around.start, around.end),
    text.slice(around.start, start) + new_ + text.slice(end, around.end),
  ]);
}

function hashOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 6);
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

/** Whether neither is inside the other: A and B change places, and B and C. */
function areEntangled({ change: { around: one } }: DrawnMutant, { change: { around: other } }: DrawnMutant): boolean {
  const [first, second] = one.start <= other.start ? [one, other] : [other, one];
  return first.start < second.start && second.start < first.end && first.end < second.end;
}
