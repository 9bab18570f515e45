/**
 * `npm run mutants` plants mutants in copies of the repository, one at a time, and runs the tests that should fail with it:
 * the mutants of a review (review.ts), and those that are drawn from all of src (draw.ts). What was found is kept in a
 * file, so that a run that was stopped resumes. It ends with 1 below the goal of score.ts.
 *
 *   --only review|drawn   just these
 *   --share N             one of N possible mutants of what writes is drawn, and one of 2 N of the rest (40)
 *   --seconds N           how long the tests of a mutant may take together (90): with fewer, more seem to survive
 *   --jobs N              how many are tried at a time (as many as there are cores)
 *   --state FILE          where results are kept
 *   --save                keeps what is known in results.json
 *   --fresh               forgets what was found
 *   --report              runs nothing, prints what is known
 *   other words           ids, or files or folders of src: just those mutants
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { drawMutants, inPage, usualShare, type DrawnMutant } from "./draw.ts";
import { keyOf, type Mutant, type NamedMutant } from "./mutant.ts";
import { measureReach, sources, usualSeconds } from "./reach.ts";
import { reviewMutants } from "./review.ts";
import { printScore } from "./score.ts";
import { readState, saveResults, writeState, type Found } from "./state.ts";
import { withSwitches } from "./switches.ts";
import { aTree, root, type Tree } from "./tree.ts";
import { isKnown, requireSound, tryDrawn, tryNamed } from "./trial.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: "string" },
    share: { type: "string", default: String(usualShare) },
    seconds: { type: "string", default: String(usualSeconds) },
    jobs: { type: "string", default: String(availableParallelism()) },
    state: { type: "string", default: join(tmpdir(), "lance-migrate-mutants.json") },
    save: { type: "boolean", default: false },
    fresh: { type: "boolean", default: false },
    report: { type: "boolean", default: false },
  },
});
if (values.only !== undefined && !["review", "drawn"].includes(values.only))
  throw new TypeError("--only is review or drawn");
if (!(Number(values.share) > 0)) throw new TypeError("--share is a number above 0");
if (values.fresh && existsSync(values.state)) rmSync(values.state);

const words = positionals.map((word) => word.replace(/^src\//, "").replace(/\/$/, ""));
const isChosen = ({ id, file }: Mutant) =>
  words.length === 0 || words.some((word) => word === id || word === file || file.startsWith(`${word}/`));
const possible = sources.flatMap((file) =>
  drawMutants(file, readFileSync(join(root, "src", file), "utf8"), Number(values.share)),
);
const drawn = (values.only === "review" ? [] : possible).filter(isChosen);
const review = (values.only === "drawn" ? [] : reviewMutants).filter(isChosen);

if (drawn.length + review.length === 0) throw new TypeError(`there is no mutant ${positionals.join(" ")}`);

const jobs = Number(values.jobs);
const state = readState(values.state);
if (!values.report) {
  await tryNamedOnes([...review, ...drawn.map(inPage).filter((mutant) => mutant !== undefined)]);
  await tryDrawnOnes(drawn.filter((mutant) => inPage(mutant) === undefined));
}
if (values.save) saveResults([...reviewMutants, ...possible], state);
process.exitCode = printScore(review, drawn, state) ? 0 : 1;

async function tryNamedOnes(mutants: readonly NamedMutant[]): Promise<void> {
  const unknown = mutants.filter((mutant) => !isKnown(mutant, state));
  if (unknown.length === 0) return;
  const trees = Array.from({ length: jobs }, aTree);
  try {
    const seconds = await requireSound(unknown, trees[0]!);
    const left = unknown.values();
    const work = async (tree: Tree) => {
      for (const mutant of left) note(mutant, await tryNamed(mutant, tree, state, seconds));
    };
    await Promise.all(trees.map(work));
  } finally {
    for (const tree of trees) tree.remove();
  }
}

async function tryDrawnOnes(mutants: readonly DrawnMutant[]): Promise<void> {
  if (mutants.every((mutant) => isKnown(mutant, state))) return;
  const tree = aTree();
  try {
    for (const file of new Set(possible.map((mutant) => mutant.file))) {
      const own = possible.filter((mutant) => mutant.file === file && inPage(mutant) === undefined);
      tree.write(file, withSwitches(tree.read(file), own));
    }
    await tree.build();
    await measureReach(tree, jobs, state, values.state);
    // In the order of their hashes, so that what was tried at any time is a sample of all.
    const unknown = mutants.filter((mutant) => !isKnown(mutant, state)).toSorted(byHash);
    console.log(`${mutants.length - unknown.length} of ${mutants.length} mutants are known`);
    const left = unknown.values();
    const work = async () => {
      for (const mutant of left)
        // What can't be decided stays untried, and the others are tried.
        await tryDrawn(mutant, tree, state, Number(values.seconds)).then(
          (found) => note(mutant, found),
          (error) => console.log(`not decided  ${mutant.file} ${mutant.id}  ${(error as Error).message}`),
        );
    };
    await Promise.all(Array.from({ length: jobs }, work));
  } finally {
    tree.remove();
  }
}

function byHash(one: Mutant, other: Mutant): number {
  const [first, second] = [one, other].map(({ id }) => id.slice(id.lastIndexOf(".")));
  return first! < second! ? -1 : 1;
}

function note(mutant: Mutant, found: Found): void {
  state.found[keyOf(mutant)] = found;
  writeState(values.state, state);
  const { file, id, does } = mutant;
  const by = found.by === undefined ? "" : `\n    by ${found.by}`;
  console.log(`${found.outcome.padEnd(11)}  ${file} ${id}  ${does}${by}`);
}
