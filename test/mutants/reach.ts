/** Which tests execute which places of the sources: each test file is run once on sources with marks. */
import { existsSync, globSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { functionOf, markOf, withMarks } from "./marks.ts";
import type { Mutant } from "./mutant.ts";
import { textsOf, writeState, type Reached, type State } from "./state.ts";
import { root, shareOut, type Tree } from "./tree.ts";

const preload = `--import=${new URL("seen.mjs", import.meta.url).href}`;

/** Relative to src. */
export const sources = globSync("{commands,ledger,plan,run}/**/*.ts", { cwd: join(root, "src") }).toSorted();

/** Of the contract and the faults, those that are about what commands, ledger, plan and run do, and take less than a minute. */
export const beside = [
  "contract/{costs,memory,misfits,versions}",
  "fault/{beside,down-beside-down,hedge,late-commits,late-writes,own-versions,recreated,restored,unreadable}",
];

/**
 * The tests that may notice a mutant, relative to test. Most fault tests and the simulator are left out, since they take
 * minutes; so is what looks at the texts of sources.
 */
export const pool = globSync(["unit/**/*.test.ts", "e2e/*.test.ts", ...beside.map((name) => `${name}.test.ts`)], {
  cwd: join(root, "test"),
})
  .filter((file) => file !== "unit/architecture.test.ts")
  .toSorted();

export function needsBuild(file: string): boolean {
  return !file.startsWith("unit/");
}

/**
 * Runs what is not known yet. What is known of a test stays known when sources change: its marks have the texts of their
 * places in their names.
 */
export async function measureReach(jobs: number, state: State, stateFile: string): Promise<void> {
  const unknown = pool.filter((file) => state.reached[file]?.texts !== textsOf([join("test", file)]));
  if (unknown.length === 0) return;
  const prepare = async (tree: Tree) => {
    for (const file of sources) tree.write(file, withMarks(file, tree.read(file)));
    if (unknown.some(needsBuild)) await tree.build();
  };
  await shareOut(unknown, jobs, prepare, async (file, tree) => {
    const reached = await reachedBy(file, tree);
    state.reached[file] = reached;
    writeState(stateFile, state);
    const { passed, by, seconds } = reached;
    console.log(passed ? `${file} takes ${seconds.toFixed(1)} s` : `without a mutant FAILS ${by}`);
  });
}

async function reachedBy(file: string, tree: Tree): Promise<Reached> {
  const seen = join(tmpdir(), `lance-migrate-seen-${process.pid}-${file.replaceAll("/", "-")}`);
  rmSync(seen, { force: true });
  const { outcome, by, seconds } = await tree.test([file], 600_000, { MUTANTS_SEEN: seen, NODE_OPTIONS: preload });
  const marks: Record<string, string[]> = {};
  for (const line of new Set(existsSync(seen) ? readFileSync(seen, "utf8").split("\n") : [])) {
    const [source, mark] = line.split("#");
    if (mark !== undefined) (marks[source!] ??= []).push(mark);
  }
  rmSync(seen, { force: true });
  return { passed: outcome === "passed", by, seconds, marks, texts: textsOf([join("test", file)]) };
}

/** Test files that take less are run together. */
const quick = 5;
/** How many seconds the other ones of a mutant may take together, by what they take without it. */
export const usualSeconds = 90;

export function isQuick(file: string, { reached }: State): boolean {
  return !needsBuild(file) && (reached[file]?.seconds ?? quick) < quick;
}

/**
 * Tests that execute the place of a mutant: all quick ones, then the quickest of the others, as far as there is time. Where none
 * is known to, those that execute its function: the place may be newer than what is known.
 */
export function testsOf(mutant: Mutant, state: State, mostSeconds: number): readonly string[] {
  const mark = markOf(mutant, readFileSync(join(root, "src", mutant.file), "utf8"));
  if (mark === undefined) return [];
  const { reached } = state;
  const marksIn = (file: string) => (reached[file]?.passed ? (reached[file].marks[mutant.file] ?? []) : []);
  const exactly = pool.filter((file) => marksIn(file).includes(mark));
  const roughly = pool.filter((file) => marksIn(file).some((one) => one.startsWith(functionOf(mark))));
  const reaching = exactly.length > 0 ? exactly : roughly;
  const secondsOf = (file: string) => reached[file]!.seconds;
  const others = reaching
    .filter((file) => !isQuick(file, state))
    .toSorted((one, other) => secondsOf(one) - secondsOf(other));
  let seconds = 0;
  const affordable = others.filter((file, index) => {
    seconds += secondsOf(file);
    return index === 0 || seconds <= mostSeconds;
  });
  return [...reaching.filter((file) => isQuick(file, state)), ...affordable];
}
