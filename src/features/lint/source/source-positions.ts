/** Finds positions in the text of a migration file. */
import { pathToFileURL } from "node:url";
import type { CallSite } from "../../../steps/define/call-sites.ts";
import { escapePattern } from "../../shared/whole-word.ts";

/** Both numbers start at 1. Columns count UTF-16 units, as editors and Node do. */
export interface SourcePosition {
  readonly line: number;
  readonly column: number;
}

export const start: SourcePosition = { line: 1, column: 1 };

/** The calls in the file at `path`, out of the calls that led to a step; innermost first. */
export function callsIn(path: string, text: string, calls: readonly CallSite[]): readonly SourcePosition[] {
  const url = pathToFileURL(path).href;
  const lines = text.split("\n");
  return calls
    .filter(({ file }) => file === path || file.split("?", 1)[0] === url)
    .map(({ line, column }) => {
      // For m.renameColumn(…), Node reports the position after the dot.
      const receiver = /[\p{L}\p{N}_$]+\.$/u.exec(lines[line - 1]?.slice(0, column - 1) ?? "");
      return { line, column: column - (receiver?.[0].length ?? 0) };
    });
}

/** The position of an export; the start of the file if it is not found. */
export function positionOfExport(text: string, name: string): SourcePosition {
  const at = offsetOfExport(withoutComments(text), name);
  return at === undefined ? start : positionAt(text, at);
}

function offsetOfExport(code: string, name: string): number | undefined {
  const at = exportsOf(name)
    .map((pattern) => new RegExp(pattern, "m").exec(code))
    .find((match) => match !== null);
  return at === undefined || at === null ? undefined : at.index + at[0].length - name.length;
}

/** Patterns for the ways to write an export, up to the end of the name: ES module, CommonJS, or in an object. */
function exportsOf(name: string): readonly string[] {
  return [
    `^[^\\S\\n]*export\\s+(?:const|let|var|function)\\s+${name}\\b`,
    `^[^\\S\\n]*(?:module\\.)?exports\\.${name}\\b`,
    `^[^\\S\\n]*(?:export\\s+default|module\\.exports\\s*=)\\s*\\{(?:[^]*?[\\s{,])?${name}(?=\\s*[:,}(])`,
    `^[^\\S\\n]*export\\s*\\{(?:[^}]*[\\s,])?${name}(?=\\s*[,}])`,
  ];
}

/** The position of the version that `up` passes to `after`; the start of the file if it is not found. */
export function positionOfAfter(text: string, version: string): SourcePosition {
  const code = withoutComments(text);
  const from = offsetOfExport(code, "up") ?? 0;
  const at = new RegExp(`\\bafter\\s*\\(\\s*["'\`](?=${escapePattern(version)}["'\`])`).exec(code.slice(from));
  return at === null ? start : positionAt(text, from + at.index + at[0].length);
}

/** The position of a word in the call at `place`, else that call. `isFirst`: whether it may be the first argument. */
export function positionOfWord(text: string, place: SourcePosition, word: string, isFirst = false): SourcePosition {
  const from = offsetOf(text, place);
  const { end, comma } = callFrom(text, from);
  const arguments_ = text.slice(isFirst ? text.indexOf("(", from) : comma, end);
  // Prefer a whole string, then the end of a path, then any other occurrence.
  const found = [word, word.slice(word.lastIndexOf(".") + 1)]
    .map(escapePattern)
    .flatMap((one) => [`(?<=["'\`])${one}(?=["'\`])`, `(?<=\\.)${one}(?=["'\`])`, one])
    .map((pattern) => new RegExp(`(?<![\\p{L}\\p{N}_$])${pattern}(?![\\p{L}\\p{N}_$])`, "u").exec(arguments_))
    .find((match) => match !== null);
  return found === undefined || found === null ? place : positionAt(text, end - arguments_.length + found.index);
}

function positionAt(text: string, offset: number): SourcePosition {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}

function offsetOf(text: string, { line, column }: SourcePosition): number {
  let offset = 0;
  for (let at = 1; at < line; at++) {
    const end = text.indexOf("\n", offset);
    if (end === -1) break;
    offset = end + 1;
  }
  return offset + column - 1;
}

/** The ends of the call that begins at `from`, and of its first argument. */
function callFrom(text: string, from: number): { readonly end: number; readonly comma: number } {
  let depth = 0;
  let comma: number | undefined;
  for (const { at, token } of tokensFrom(text, from)) {
    if ("([{".includes(token)) depth++;
    if (")]}".includes(token)) depth--;
    if (token === "," && depth === 1) comma ??= at;
    if (depth <= 0) return { end: at + token.length, comma: comma ?? from };
  }
  return { end: text.length, comma: comma ?? from };
}

/** Strings, comments, brackets and commas: all that finding positions needs. */
const tokens = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[^])*`|\/\/[^\n]*|\/\*[^]*?\*\/|[()[\]{},]/g;

interface Token {
  /** The offset at which it begins, in UTF-16 units. */
  readonly at: number;
  readonly token: string;
}

function* tokensFrom(text: string, from = 0): Generator<Token> {
  const own = new RegExp(tokens);
  own.lastIndex = from;
  for (let match = own.exec(text); match !== null; match = own.exec(text)) yield { at: match.index, token: match[0] };
}

/** The text with comments replaced by blanks, so that all offsets stay the same. */
function withoutComments(text: string): string {
  let code = "";
  for (const { at, token } of tokensFrom(text))
    if (token.startsWith("//") || token.startsWith("/*"))
      code += text.slice(code.length, at) + token.replace(/[^\n]/g, " ");
  return code + text.slice(code.length);
}
