/** One mutant: what is planted, which tests are run, and what they find. */
import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { codeAround, type DrawnMutant } from "./draw.ts";
import { keyOf, planted, type Mutant, type NamedMutant } from "./mutant.ts";
import { reaching, selectionOf, switchOn, type Reaching } from "./reach.ts";
import { textsOf, type Found, type State } from "./state.ts";
import { fullName, root, type Conditions, type Ended, type Report, type Selection, type Tree } from "./tree.ts";

/** Whether what was found still holds: its function is the same, and the tests that decided it. */
export function isKnown(mutant: Mutant, state: State): boolean {
  const found = state.found[keyOf(mutant)];
  return found !== undefined && found.texts === textsFor(mutant, found, state);
}

/** Of one that is killed those that failed or took too long decided it; of one that survived all that reach it. */
function textsFor(mutant: Mutant, { outcome, by }: Pick<Found, "outcome" | "by">, state: State): string {
  const decided = outcome === "killed" ? (by?.split(": ")[0]?.split(", ") ?? []) : testsOf(mutant, state);
  const text = readFileSync(join(root, "src", mutant.file), "utf8");
  return textsOf(
    decided.filter((test) => existsSync(join(root, "test", test))),
    codeAround(text, text.indexOf(mutant.find)),
  );
}

function testsOf(mutant: Mutant, state: State): readonly string[] {
  if ("killedBy" in mutant) return mutant.killedBy as readonly string[];
  return reaching(mutant as DrawnMutant, state, Infinity)
    .map(({ file }) => file)
    .toSorted();
}

const oneFailure = ["--bail", "1", "--maxWorkers", "1"];

/** One that names its tests, in a tree of its own. */
export async function tryNamed(mutant: NamedMutant, tree: Tree, state: State, seconds: number): Promise<Found> {
  const text = tree.read(mutant.file);
  const changed = planted(text, mutant);
  if (changed === undefined) throw new Error(`${mutant.id}: its text does not occur once in ${mutant.file}`);
  tree.write(mutant.file, changed);
  try {
    if (mutant.killedBy.some((file) => !file.startsWith("unit/"))) await tree.build();
    const selection = new Map(mutant.killedBy.map((file) => [file, undefined]));
    const conditions = { limit: Math.min(limitFor(seconds), 600_000), args: oneFailure };
    return found(mutant, failureOf(await tree.test(selection, conditions), selection, conditions, tree), state);
  } finally {
    tree.write(mutant.file, text);
  }
}

/** The tests that mutants name must pass without them. Gives the seconds that they take together. */
export async function requireSound(mutants: readonly NamedMutant[], tree: Tree): Promise<number> {
  const selection = new Map(mutants.flatMap(({ killedBy }) => killedBy.map((file) => [file, undefined])));
  if (selection.size === 0) return 0;
  if ([...selection.keys()].some((file) => !file.startsWith("unit/"))) await tree.build();
  const conditions = { limit: 3_600_000 };
  const ended = await tree.test(selection, conditions);
  const failure = failureOf(ended, selection, conditions, tree);
  if (failure !== undefined) throw new Error(`without a mutant: ${failure}`);
  return ended.seconds;
}

/** A drawn one, in a tree with the switches of all. */
export async function tryDrawn(mutant: DrawnMutant, tree: Tree, state: State, mostSeconds: number): Promise<Found> {
  const all = reaching(mutant, state, mostSeconds);
  for (const group of together(all)) {
    const selection = selectionOf(group);
    const limit = limitFor(secondsOf(group));
    const conditions = { limit, args: oneFailure, env: switchOn({ MUTANT: keyOf(mutant) }) };
    const failure = failureOf(await tree.test(selection, conditions), selection, conditions, tree);
    if (failure !== undefined) {
      await requirePassing(selection, tree, limit);
      return found(mutant, failure, state);
    }
  }
  return found(mutant, undefined, state, all.length > 0);
}

/** By selection. */
const passing = new Map<string, Promise<Ended>>();

/** Tests that fail without a mutant too have not noticed one. */
async function requirePassing(selection: Selection, tree: Tree, limit: number): Promise<void> {
  const conditions = { limit, args: oneFailure };
  const key = JSON.stringify([...selection]);
  if (!passing.has(key)) passing.set(key, tree.test(selection, conditions));
  const failure = failureOf(await passing.get(key)!, selection, conditions, tree);
  if (failure !== undefined) throw new Error(`without a mutant too: ${failure}`);
}

/** In milliseconds: much more than tests take without a mutant, since other programs may need the machine too. */
function limitFor(seconds: number): number {
  return Math.round((60 + 5 * seconds) * 1_000);
}

function found(mutant: Mutant, by: string | undefined, state: State, isReached = true): Found {
  const outcome = by !== undefined ? "killed" : isReached ? "survived" : "not reached";
  return { outcome, ...(by !== undefined && { by }), texts: textsFor(mutant, { outcome, ...(by && { by }) }, state) };
}

/** In seconds: each group takes several times as long as all before it, so that most mutants need only the first. */
const groupSeconds = [4, 15, 40];

function together(all: readonly Reaching[]): readonly (readonly Reaching[])[] {
  const groups: Reaching[][] = [];
  for (const one of all) {
    const group = groups.at(-1);
    const most = groupSeconds[groups.length - 1] ?? groupSeconds.at(-1)!;
    if (group === undefined || secondsOf(group) + one.seconds > most) groups.push([one]);
    else group.push(one);
  }
  return groups;
}

function secondsOf(group: readonly Reaching[]): number {
  return group.reduce((sum, { seconds }) => sum + seconds, 0);
}

/** A name that Vitest does not find is a test that is skipped, and nobody would notice the mutant. */
function requireRun(selection: Selection, report: Report | undefined): void {
  const passed = report?.testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === "passed").map(fullName),
  );
  const missing = [...selection.values()].flatMap((names) => names ?? []).filter((name) => !passed?.includes(name));
  if (missing.length > 0) throw new Error(`these tests were not run: ${missing.join(", ")}`);
}

/** The first test that failed, as "FILE: NAME"; undefined if all passed. */
function failureOf(
  { code, report }: Ended,
  selection: Selection,
  { limit }: Conditions,
  tree: Tree,
): string | undefined {
  const files = [...selection.keys()].join(", ");
  if (code === 0) return void requireRun(selection, report);
  if (code === undefined) return `${files}: ended after ${limit / 1_000} s`;
  // That says nothing of the mutant.
  if (report === undefined) throw new Error(`the tests did not start: ${files}`);
  for (const { name, status, assertionResults } of report.testResults) {
    const failed = assertionResults.find((test) => test.status === "failed");
    if (failed !== undefined || status === "failed")
      return `${relative(join(tree.folder, "test"), name)}: ${failed === undefined ? "the file can't be loaded" : fullName(failed)}`;
  }
  return `${files}: something outside of tests`;
}
