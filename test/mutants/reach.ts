/** Which tests reach which mutants: all test files are run once on sources with switches. */
import { existsSync, globSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import type { DrawnMutant } from "./draw.ts";
import { keyOf } from "./mutant.ts";
import { textsOf, writeState, type Reached, type State } from "./state.ts";
import { fullName, root, type Selection, type Tree } from "./tree.ts";

/** Relative to src. */
export const sources = globSync("**/*.ts", { cwd: join(root, "src") }).toSorted();

/**
 * The tests that may notice a mutant, relative to test. Those that look at the texts of sources, pack them or make an image
 * of them are left out, and those that plant bugs of their own.
 */
export const pool = globSync("**/*.test.ts", {
  cwd: join(root, "test"),
  exclude: [
    "mutants/**",
    "pylance/**",
    "container/**",
    "stores/**",
    "docs/**",
    ".cache/**",
    "simulate/planted.test.ts",
  ],
})
  .filter((file) => !/^unit\/(architecture|language)|^e2e\/(newcomer|install|project-kinds)\./.test(file))
  .toSorted();

/** With the switches of all mutants in its sources. */
export function switchOn(env: { readonly MUTANT: string } | { readonly MUTANTS_SEEN: string }) {
  return { ...env, NODE_OPTIONS: `--import=${new URL("preload.mjs", import.meta.url).href}` };
}

/** Files that are run together: what is known is written after each of these. */
const batch = 50;

/** Runs the test files of which is not known what they reach. */
export async function measureReach(tree: Tree, jobs: number, state: State, stateFile: string): Promise<void> {
  const unknown = pool.filter((file) => state.reached[file]?.texts !== textsOf([file]));
  for (let at = 0; at < unknown.length; at += batch) {
    const files = unknown.slice(at, at + batch);
    Object.assign(state.reached, await reachOf(files, tree, jobs));
    writeState(stateFile, state);
    console.log(`${at + files.length} of ${unknown.length} test files have been run without a mutant`);
  }
}

async function reachOf(files: readonly string[], tree: Tree, jobs: number): Promise<Record<string, Reached>> {
  const seen = join(tree.folder, "..", "seen");
  rmSync(seen, { force: true });
  const { report } = await tree.test(new Map(files.map((file) => [file, undefined])), {
    limit: 3_600_000,
    env: switchOn({ MUTANTS_SEEN: seen }),
    args: ["--maxWorkers", String(2 * jobs)],
  });
  if (report === undefined) throw new Error(`the tests did not start: ${files.join(", ")}`);
  const lines = new Set(existsSync(seen) ? readFileSync(seen, "utf8").split("\n") : []);
  const reached = new Map<string, Map<string, string[]>>(files.map((file) => [file, new Map()]));
  for (const line of lines) {
    const [by = "[]", key] = line.split("\t");
    const [path, test] = JSON.parse(by || "[]") as [string?, string?];
    const file = path === undefined ? undefined : relative("test", path);
    const own = file === undefined ? undefined : reached.get(file);
    if (own === undefined || key === undefined) continue;
    own.set(key, [...(own.get(key) ?? []), test!]);
  }
  return Object.fromEntries(
    report.testResults.map(({ name, assertionResults }) => {
      const file = relative(join(tree.folder, "test"), name);
      const passed = assertionResults.filter(({ status }) => status === "passed");
      const failed = assertionResults.filter(({ status }) => status === "failed");
      const seconds = Object.fromEntries(passed.map((test) => [fullName(test), (test.duration ?? 0) / 1_000]));
      for (const test of failed) console.log(`without a mutant FAILS ${file}: ${fullName(test)}`);
      const keys = Object.fromEntries(reached.get(file) ?? []);
      // What failed is asked again the next time.
      return [file, { seconds, keys, texts: failed.length > 0 ? "" : textsOf([file]) }];
    }),
  );
}

/** How many seconds all tests of a mutant may take together, by what they take without it. */
export const usualSeconds = 90;

/** Tests of a file, and how many seconds they take together. */
export interface Reaching {
  readonly file: string;
  readonly tests: readonly string[];
  readonly seconds: number;
}

/**
 * The tests that execute the place of the mutant, the likeliest to notice first: those of the unit, then the quickest, as far
 * as there is time. Code at the top of a file runs once in a process, and new code is not known to any test: there it is all
 * tests that execute something of the file.
 */
export function reaching(mutant: DrawnMutant, state: State, mostSeconds: number): readonly Reaching[] {
  const exactly = mutant.isAtTop ? [] : reachingAny(({ keys }) => keys[keyOf(mutant)] ?? [], state);
  const isOfFile = (key: string) => key.startsWith(`${mutant.file} `);
  const roughly = () =>
    reachingAny(
      ({ keys }) =>
        Object.keys(keys)
          .filter(isOfFile)
          .flatMap((key) => keys[key]!),
      state,
    );
  const all = (exactly.length > 0 ? exactly : roughly()).toSorted((one, other) => one.seconds - other.seconds);
  const own = all.filter(({ file }) => file === `unit/${mutant.file.replace(/\.ts$/, ".test.ts")}`);
  let seconds = 0;
  return [...own, ...all.filter((one) => !own.includes(one))].filter((one, index) => {
    seconds += one.seconds;
    return index === 0 || seconds <= mostSeconds;
  });
}

function reachingAny(testsOf: (reached: Reached) => readonly string[], { reached }: State): readonly Reaching[] {
  return pool.flatMap((file): readonly Reaching[] => {
    const known = reached[file];
    if (known === undefined) return [];
    const found = new Set(testsOf(known));
    // Between its tests, in what is there for all of them.
    const names = Object.keys(known.seconds);
    const tests = found.has("") ? names : names.filter((name) => found.has(name));
    const seconds = startSeconds + tests.reduce((sum, name) => sum + known.seconds[name]!, 0);
    return tests.length === 0 ? [] : [{ file, tests, seconds }];
  });
}

/** What a file takes besides its tests. */
const startSeconds = 0.5;

export function selectionOf(reaching: readonly Reaching[]): Selection {
  return new Map(reaching.map(({ file, tests }) => [file, tests]));
}
