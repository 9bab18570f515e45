/** One mutant: what is planted, which tests are run, and what they find. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { codeAround } from "./draw.ts";
import { planted, type Mutant } from "./mutant.ts";
import { isQuick, needsBuild, testsOf } from "./reach.ts";
import { keyOf, textsOf, type Found, type State } from "./state.ts";
import { root, shareOut, type Tree, type Verdict } from "./tree.ts";

/** Whether what was found still holds: its function is the same, and the tests that decided it. */
export function isKnown(mutant: Mutant, state: State, mostSeconds: number): boolean {
  const found = state.found[keyOf(mutant)];
  return found !== undefined && found.texts === textsFor(mutant, found, deciding(mutant, state, mostSeconds));
}

function deciding(mutant: Mutant, state: State, mostSeconds: number): readonly string[] {
  return mutant.killedBy ?? testsOf(mutant, state, mostSeconds);
}

/** Which of the tests decided it: of one that is killed those that failed, or took too long. */
function textsFor(
  { file, find }: Mutant,
  { outcome, by }: Pick<Found, "outcome" | "by">,
  tests: readonly string[],
): string {
  const decided = outcome === "killed" ? testsNamed({ by }) : tests;
  const text = readFileSync(join(root, "src", file), "utf8");
  return textsOf(
    decided.map((test) => join("test", test)).filter((path) => existsSync(join(root, path))),
    codeAround(text, text.indexOf(find)),
  );
}

/** Those that failed, or took too long. */
function testsNamed(found: Pick<Found, "by"> | undefined): readonly string[] {
  return found?.by?.split(": ")[0]?.split(", ") ?? [];
}

/** The tests that mutants name must pass without them. */
export async function testSound(mutants: readonly Mutant[], jobs: number): Promise<void> {
  const named = [...new Set(mutants.flatMap(({ killedBy = [] }) => killedBy))];
  const prepare = async (tree: Tree) => (named.some(needsBuild) ? tree.build() : undefined);
  await shareOut(named, jobs, prepare, async (file, tree) => {
    const { outcome, by } = await tree.test([file], 600_000);
    if (outcome !== "passed") throw new Error(`without a mutant: ${file}: ${by}`);
  });
}

export async function tryMutant(mutant: Mutant, tree: Tree, state: State, mostSeconds: number): Promise<Found> {
  const text = tree.read(mutant.file);
  const changed = planted(text, mutant);
  if (changed === undefined) throw new Error(`${mutant.id}: its text does not occur once in ${mutant.file}`);
  const tests = deciding(mutant, state, mostSeconds);
  tree.write(mutant.file, changed);
  try {
    const verdict = await firstFailure(mutant, tests, tree, state);
    const outcome = verdict !== undefined ? "killed" : tests.length === 0 ? "not reached" : "survived";
    const found = { outcome, ...(verdict?.by && { by: verdict.by }) } as const;
    return { ...found, texts: textsFor(mutant, found, tests) };
  } finally {
    tree.write(mutant.file, text);
  }
}

async function firstFailure(
  mutant: Mutant,
  tests: readonly string[],
  tree: Tree,
  state: State,
): Promise<Verdict | undefined> {
  let isBuilt = false;
  for (const files of together(tests, mutant, state)) {
    if (!isBuilt && files.some(needsBuild)) {
      await tree.build();
      isBuilt = true;
    }
    const verdict = await tree.test(files, limitOf(files, state));
    if (verdict.outcome !== "passed") return verdict;
  }
  return undefined;
}

/** Quick tests that execute most of the mutant's file are run before the other quick ones: mostly one of them notices. */
const mostLikely = 3;

/** The test that noticed it last comes first. */
function together(tests: readonly string[], mutant: Mutant, state: State): readonly (readonly string[])[] {
  const noticed = testsNamed(state.found[keyOf(mutant)]);
  const executed = (test: string) => state.reached[test]?.marks[mutant.file]?.length ?? 0;
  const others = tests.filter((test) => !noticed.includes(test));
  const quick = others.filter((test) => isQuick(test, state)).toSorted((one, other) => executed(other) - executed(one));
  const slow = others.filter((test) => !quick.includes(test)).map((test) => [test]);
  const groups = [
    tests.filter((test) => noticed.includes(test)),
    quick.slice(0, mostLikely),
    quick.slice(mostLikely),
    ...slow,
  ];
  return groups.filter((files) => files.length > 0);
}

/** In milliseconds. Much more than they take without a mutant, since other programs may need the machine too. */
function limitOf(files: readonly string[], { reached }: State): number {
  const usual = files.reduce((all, file) => all + (reached[file]?.seconds ?? 60), 0);
  return Math.round((60 + 5 * usual) * 1_000);
}
