/** Comments that silence rules of `lint`: `// lint-ignore RULE, RULE: why`, on the line itself or on the lines above it. */
import { placeAt, type Place } from "./places.ts";
import { tokensFrom } from "./tokens.ts";

export interface Ignored {
  readonly rule: string;
  /** Where the comment names it. */
  readonly place: Place;
}

const ignoring = /^\/\/\s*lint-ignore\s+([\w-]+(?:\s*,\s*[\w-]+)*)/;

/** All the rules that comments of a file name. */
export function ignoresIn(text: string): readonly Ignored[] {
  if (!text.includes("lint-ignore")) return [];
  return [...tokensFrom(text)].flatMap(({ at, token }) => {
    const names = ignoring.exec(token)?.[1];
    if (names === undefined) return [];
    const from = at + token.indexOf(names);
    return [...names.matchAll(/[\w-]+/g)].map(({ 0: rule, index }) => ({ rule, place: placeAt(text, from + index) }));
  });
}

/** The rules that are silent at a place: a comment above it may go over several lines. */
export function ignoredAt(text: string, ignores: readonly Ignored[], { line }: Place): readonly string[] {
  if (ignores.length === 0) return [];
  const lines = text.split("\n");
  let first = line;
  while (lines[first - 2]?.trim().startsWith("//") === true) first--;
  return ignores.filter(({ place }) => place.line >= first && place.line <= line).map(({ rule }) => rule);
}
