/** What `npm run mutants` prints at the end. */
import { equivalents } from "./equivalent.ts";
import type { Mutant } from "./mutant.ts";
import { usualSeconds } from "./reach.ts";
import { keyOf, type State } from "./state.ts";
import { isKnown } from "./trial.ts";

const goal = 0.9;

/** Whether all of the review are killed, and enough of what was drawn. */
export function printScore(review: readonly Mutant[], drawn: readonly Mutant[], state: State): boolean {
  // Of a kill before its source or its test changed, nothing is known any more.
  const isStale = (mutant: Mutant) =>
    state.found[keyOf(mutant)]?.outcome === "killed" && !isKnown(mutant, state, usualSeconds);
  const stale = new Set([...review, ...drawn].filter(isStale));
  const isKilled = (mutant: Mutant) => state.found[keyOf(mutant)]?.outcome === "killed" && !stale.has(mutant);
  console.log();
  for (const mutant of [...review, ...drawn].filter((mutant) => !isKilled(mutant)))
    printLeft(mutant, stale.has(mutant) ? "to try again" : (state.found[keyOf(mutant)]?.outcome ?? "not tried"));
  const count = (mutants: readonly Mutant[]) => mutants.filter(isKilled).length;
  const tried = drawn.filter((mutant) => state.found[keyOf(mutant)] !== undefined && !stale.has(mutant));
  if (tried.length < drawn.length)
    console.log(`\ntried: ${tried.length} of ${drawn.length}, ${scoreOf(count(tried), tried.length)}`);
  if (review.length > 0) console.log(`\nreview: ${count(review)} of ${review.length} killed`);
  for (const folder of ["commands", "ledger", "plan", "run"]) {
    const own = drawn.filter(({ file }) => file.startsWith(`${folder}/`));
    if (own.length > 0) console.log(`${folder}: ${scoreOf(count(own), own.length)}`);
  }
  if (drawn.length > 0) console.log(`drawn: ${scoreOf(count(drawn), drawn.length)}`);
  return count(review) === review.length && count(drawn) >= goal * drawn.length;
}

function printLeft(mutant: Mutant, outcome: string): void {
  const { file, id, does, find, replace } = mutant;
  const why = equivalents.find((one) => one.file === file && one.id === id)?.why;
  console.log(`${why === undefined ? outcome : "equivalent"}  ${file} ${id}  ${does}`);
  console.log(why === undefined ? `  - ${find}\n  + ${replace}` : `    ${why}`);
}

function scoreOf(killed: number, all: number): string {
  return `${killed} of ${all} killed, ${((100 * killed) / all).toFixed(1)} %`;
}
