/**
 * `npm run mutants` plants mutants in a copy of the repository, one at a time, and runs the tests that should fail with it:
 * the mutants of a review (review.ts), and those that are drawn from each function of commands, ledger, plan and run (draw.ts).
 * What was found is kept in a file, so that a run that was stopped resumes. It ends with 1 below the goal.
 *
 *   --only review|drawn   just these
 *   --share N             one of N possible mutants of each function is drawn (30)
 *   --seconds N           how long the slow tests of a mutant may take together (90): with fewer, more seem to survive
 *   --jobs N              how many are tried at a time (as many as there are cores)
 *   --state FILE          where results are kept
 *   --save                keeps what is known in results.json
 *   --fresh               forgets what was found
 *   --report              runs nothing, prints what is known
 *   other words           ids, files or folders: just those mutants
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { drawMutants, usualShare } from "./draw.ts";
import type { Mutant } from "./mutant.ts";
import { measureReach, sources, usualSeconds } from "./reach.ts";
import { reviewMutants } from "./review.ts";
import { printScore } from "./score.ts";
import { keyOf, readState, saveResults, writeState } from "./state.ts";
import { root, shareOut } from "./tree.ts";
import { isKnown, testSound, tryMutant } from "./trial.ts";

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
if (values.fresh && existsSync(values.state)) rmSync(values.state);

const isChosen = ({ id, file }: Mutant) =>
  positionals.length === 0 || positionals.some((word) => word === id || word === file || file.startsWith(`${word}/`));
const drawn = sources.flatMap((file) =>
  drawMutants(file, readFileSync(join(root, "src", file), "utf8"), Number(values.share)),
);
const review = (values.only === "drawn" ? [] : reviewMutants).filter(isChosen);
const mutants = [...review, ...(values.only === "review" ? [] : drawn.filter(isChosen))];

const mostSeconds = Number(values.seconds);
const jobs = Number(values.jobs);
const state = readState(values.state);
if (!values.report) await tryAll();
if (values.save) saveResults([...reviewMutants, ...drawn], state);
process.exitCode = printScore(review, mutants.slice(review.length), state) ? 0 : 1;

async function tryAll(): Promise<void> {
  const unknown = () => mutants.filter((mutant) => !isKnown(mutant, state, mostSeconds));
  if (unknown().some(({ killedBy }) => killedBy === undefined)) await measureReach(jobs, state, values.state);
  // In the order of their hashes, so that what was tried at any time is a sample of all.
  const left = unknown().toSorted((one, other) => (one.id < other.id ? -1 : 1));
  console.log(`${mutants.length - left.length} of ${mutants.length} mutants are known`);
  await testSound(left, jobs);
  await shareOut(left, jobs, unprepared, async (mutant, tree) => {
    const found = await tryMutant(mutant, tree, state, mostSeconds);
    state.found[keyOf(mutant)] = found;
    writeState(values.state, state);
    const { file, id, does } = mutant;
    console.log(
      `${found.outcome.padEnd(11)}  ${file} ${id}  ${does}${found.by === undefined ? "" : `\n    by ${found.by}`}`,
    );
  });
}

async function unprepared(): Promise<void> {}
