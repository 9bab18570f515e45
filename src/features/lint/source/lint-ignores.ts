/** Comments that silence rules of `lint`: `// lint-ignore RULE, RULE: why`, on the line or on the lines above it. */
import type { SourcePosition } from "./source-positions.ts";

interface Ignored {
  readonly rule: string;
  /** The position of the rule's name in the comment. */
  readonly place: SourcePosition;
}

const ignoring = /\/\/\s*lint-ignore\s+([\w-]+(?:\s*,\s*[\w-]+)*)/;

/** The rules that comments of a file silence, unknown ones included. */
export function ignoresIn(text: string): readonly Ignored[] {
  if (!text.includes("lint-ignore")) return [];
  return text.split(/\r?\n/).flatMap((line, index) => {
    const comment = commentOf(line);
    const found = ignoring.exec(comment);
    if (found === null) return [];
    const from = line.length - comment.length + found.index + found[0].length - found[1]!.length;
    return [...found[1]!.matchAll(/[\w-]+/g)].map(({ 0: rule, index: at }) => ({
      rule,
      place: { line: index + 1, column: from + at + 1 },
    }));
  });
}

/** Matches strings and comments that end on their line. A line alone can't tell whether it is inside a longer one. */
const closed = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|\/\*.*?\*\/|\/\/.*/g;

/** The comment at the end of a line, with its slashes. */
function commentOf(line: string): string {
  const last = [...line.matchAll(closed)].at(-1)?.[0] ?? "";
  return last.startsWith("//") ? last : "";
}

/** The rules that are silenced at a position. The comment above it may have several lines. */
export function ignoredAt(text: string, ignores: readonly Ignored[], { line }: SourcePosition): readonly string[] {
  if (ignores.length === 0) return [];
  const lines = text.split("\n");
  let first = line;
  while (lines[first - 2]?.trim().startsWith("//") === true) first--;
  return ignores.filter(({ place }) => place.line >= first && place.line <= line).map(({ rule }) => rule);
}
