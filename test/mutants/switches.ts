/**
 * Sources with all of their mutants beside the original, of which the environment of a process chooses one. So a copy of
 * the sources is built once, and each of its mutants tells which tests reach it.
 */
import type { DrawnMutant } from "./draw.ts";
import { keyOf } from "./mutant.ts";

interface Insertion {
  readonly at: number;
  readonly text: string;
  /** Of what it belongs to. */
  readonly length: number;
  readonly isEnd: boolean;
}

export function withSwitches(text: string, mutants: readonly DrawnMutant[]): string {
  let result = text;
  for (const { at, text: inserted } of mutants.flatMap((mutant) => insertionsOf(text, mutant)).toSorted(inReverse))
    result = result.slice(0, at) + inserted + result.slice(at);
  return result;
}

function insertionsOf(text: string, mutant: DrawnMutant): readonly Insertion[] {
  const { change } = mutant;
  const { start, end, isExpression } = change.around;
  const changed = text.slice(start, change.start) + change.text + text.slice(change.end, end);
  const isChosen = `globalThis.__mutant?.(${JSON.stringify(keyOf(mutant))})`;
  const [before, after] = isExpression
    ? [`(${isChosen} ? (${changed}) : (`, "))"]
    : [`{ if (${isChosen}) { ${changed} } else { `, " } }"];
  const length = end - start;
  return [
    { at: start, text: before, length, isEnd: false },
    { at: end, text: after, length, isEnd: true },
  ];
}

/** From the end of the text. At one place ends stand before beginnings, and what is inside ends first and begins last. */
function inReverse(one: Insertion, other: Insertion): number {
  if (one.at !== other.at) return other.at - one.at;
  if (one.isEnd !== other.isEnd) return one.isEnd ? 1 : -1;
  return one.isEnd ? other.length - one.length : one.length - other.length;
}
