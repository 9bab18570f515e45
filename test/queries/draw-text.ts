/** Draws full-text queries of each kind. */
import type { Chance } from "../simulate/seeded-random.ts";
import { maybe } from "./choices.ts";
import type { MatchOptions, Text } from "./query.ts";
import { words } from "./tables.ts";

export function drawText(chance: Chance): Text {
  if (chance.happens(0.25)) {
    const typed = someWords(chance, 3);
    return chance.happens(0.25) ? `"${typed}"` : typed;
  }
  return drawPart(chance, 0);
}

const column = (chance: Chance) =>
  chance.pick([
    "title",
    "title",
    "title",
    "body",
    "body",
    "author.name",
    "words",
    ...(chance.happens(0.05) ? ["genre", "n", "missing"] : []),
  ]);

function drawPart(chance: Chance, depth: number): Text {
  const kinds = ["match", "match", "phrase", "multiMatch", ...(depth < 2 ? ["boost", "boolean", "boolean"] : [])];
  switch (chance.pick(kinds)) {
    case "match":
      return { kind: "match", text: someWords(chance, 3), column: column(chance), options: drawOptions(chance) };
    case "phrase":
      return {
        kind: "phrase",
        text: someWords(chance, 3),
        column: column(chance),
        slop: maybe(chance, 0.7, () => chance.below(5)),
      };
    case "multiMatch":
      return drawMultiMatch(chance);
    case "boost":
      return {
        kind: "boost",
        positive: drawPart(chance, depth + 1),
        negative: drawPart(chance, depth + 1),
        by: maybe(chance, 0.7, () => chance.pick([0, 0.2, 0.5, 1, 3])),
      };
    default:
      return {
        kind: "boolean",
        parts: Array.from(
          { length: 1 + chance.below(3) },
          () => [chance.pick(["MUST", "MUST", "SHOULD", "SHOULD", "MUST_NOT"]), drawPart(chance, depth + 1)] as const,
        ),
      };
  }
}

function drawMultiMatch(chance: Chance): Text {
  const columns = chance.pick([["title", "body"], ["body", "title", "author.name"], ["title"], ["words", "title"]]);
  return {
    kind: "multiMatch",
    text: someWords(chance, 2),
    columns,
    boosts: maybe(chance, 0.5, () => columns.map(() => chance.pick([0.5, 1, 2, 7]))),
    operator: maybe(chance, 0.4, () => chance.pick(["AND", "OR"])),
  };
}

function drawOptions(chance: Chance): MatchOptions {
  return {
    boost: maybe(chance, 0.2, () => chance.pick([0.5, 2, 10])),
    fuzziness: maybe(chance, 0.55, () => chance.pick([0, 1, 2, null])),
    maxExpansions: maybe(chance, 0.35, () => chance.pick([1, 2, 5, 50])),
    operator: maybe(chance, 0.4, () => chance.pick(["AND", "OR"])),
    prefixLength: maybe(chance, 0.35, () => chance.below(4)),
  };
}

/** Now and then with a letter less. */
function someWords(chance: Chance, most: number): string {
  const one = () => {
    const word = chance.pick(words);
    return chance.happens(0.15) ? word.slice(0, -1) : word;
  };
  return Array.from({ length: 1 + chance.below(most) }, one).join(" ");
}
