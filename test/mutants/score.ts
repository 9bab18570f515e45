/** What `npm run mutants` prints at the end. */
import { isWriting, roomOf } from "./draw.ts";
import { equivalents } from "./equivalent.ts";
import { keyOf, type Mutant } from "./mutant.ts";
import type { State } from "./state.ts";
import { isKnown } from "./trial.ts";

/** Shares of the mutants that are drawn, of which one that was not tried is not killed. */
const goals = { all: 0.85, writing: 0.9 };

interface Score {
  readonly name: string;
  readonly killed: number;
  readonly known: number;
  readonly all: number;
}

/** Whether all of the review are killed, and enough of what was drawn. */
export function printScore(review: readonly Mutant[], drawn: readonly Mutant[], state: State): boolean {
  const outcomes = new Map([...review, ...drawn].map((mutant) => [mutant, outcomeOf(mutant, state)]));
  for (const [mutant, outcome] of outcomes) if (outcome !== "killed") printLeft(mutant, outcome);
  const score = (name: string, mutants: readonly Mutant[]): Score => {
    const found = mutants.map((mutant) => outcomes.get(mutant)!);
    const known = found.filter((outcome) => outcome !== "not tried").length;
    return { name, killed: found.filter((outcome) => outcome === "killed").length, known, all: mutants.length };
  };
  const rooms = [...new Set(drawn.map(({ file }) => roomOf(file)))].toSorted();
  const all = score("all of src", drawn);
  const writing = score(
    "what writes",
    drawn.filter(({ file }) => isWriting(file)),
  );
  const ofReview = score("the review", review);
  const byRoom = rooms.map((room) =>
    score(
      room,
      drawn.filter(({ file }) => roomOf(file) === room),
    ),
  );
  console.log(
    `\n${[...byRoom, writing, all, ofReview]
      .filter((one) => one.all > 0)
      .map(lineOf)
      .join("\n")}`,
  );
  return ofReview.killed === ofReview.all && holds(writing, goals.writing) && holds(all, goals.all);
}

/** Of a kill before its source or its test changed, nothing is known any more. */
function outcomeOf(mutant: Mutant, state: State): string {
  const { outcome = "not tried" } = state.found[keyOf(mutant)] ?? {};
  if (outcome === "killed" && !isKnown(mutant, state)) return "not tried";
  return outcome !== "killed" && equivalentOf(mutant) !== undefined ? "equivalent" : outcome;
}

function equivalentOf(mutant: Mutant): string | undefined {
  return equivalents.find(({ file, id }) => file === mutant.file && id === mutant.id)?.why;
}

function holds({ killed, all }: Score, goal: number): boolean {
  return killed >= goal * all;
}

function lineOf({ name, killed, known, all }: Score): string {
  const percent = known === 0 ? "" : `, ${((100 * killed) / known).toFixed(1)} %`;
  return `${name}: ${killed} of ${known} killed${percent}${known < all ? `; ${all - known} not tried` : ""}`;
}

function printLeft(mutant: Mutant, outcome: string): void {
  const { file, id, does, find, replace } = mutant;
  const why = equivalentOf(mutant);
  console.log(`${outcome}  ${file} ${id}  ${does}`);
  console.log(why === undefined ? `  - ${find}\n  + ${replace}` : `    ${why}`);
}
