/**
 * What was found, kept in a file so that a run that was stopped resumes; and in the repository, so that only mutants are tried
 * again whose source has changed, or the test that noticed them.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { keyOf, type Mutant } from "./mutant.ts";
import { root } from "./tree.ts";

export interface Found {
  readonly outcome: "killed" | "survived" | "not reached";
  /** The test that failed. */
  readonly by?: string;
  /** Of its function, and of the tests that decided it. */
  readonly texts: string;
}

/** What a test file does without a mutant. */
export interface Reached {
  /** Of each test that passes. */
  readonly seconds: Readonly<Record<string, number>>;
  /** By the key of a mutant, the tests that reach it; "" if it is reached between them. */
  readonly keys: Readonly<Record<string, readonly string[]>>;
  readonly texts: string;
}

export interface State {
  readonly found: Record<string, Found>;
  readonly reached: Record<string, Reached>;
}

const results = join(root, "test/mutants/results.json");

export function readResults(): State["found"] {
  return existsSync(results) ? (JSON.parse(readFileSync(results, "utf8")) as State["found"]) : {};
}

export function readState(file: string): State {
  const own = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as State) : { found: {}, reached: {} };
  return { ...own, found: { ...readResults(), ...own.found } };
}

/** In the repository, without mutants that there are no more. */
export function saveResults(mutants: readonly Mutant[], { found }: State): void {
  const keys = mutants.map(keyOf).filter((key) => key in found);
  const kept = Object.fromEntries(keys.toSorted().map((key) => [key, found[key]]));
  writeFileSync(results, `${JSON.stringify(kept, undefined, 2)}\n`);
}

export function writeState(file: string, state: State): void {
  writeFileSync(`${file}.new`, JSON.stringify(state));
  renameSync(`${file}.new`, file);
}

/** Of test files, relative to test, with what they import of test, and of other texts. */
export function textsOf(tests: readonly string[], ...others: readonly string[]): string {
  const files = new Set<string>();
  for (const test of tests) addWithImports(join("test", test), files);
  return hashOf([...[...files].map(textIn), ...others]);
}

function addWithImports(file: string, files: Set<string>): void {
  if (files.has(file)) return;
  files.add(file);
  for (const path of importsOf(file)) addWithImports(path, files);
}

const texts = new Map<string, string>();

function textIn(file: string): string {
  if (!texts.has(file)) texts.set(file, readFileSync(join(root, file), "utf8"));
  return texts.get(file)!;
}

/** Those below test: some files of tests share a suite. */
function importsOf(file: string): readonly string[] {
  return [...textIn(file).matchAll(/ from "(\.[^"]+\.ts)"/g)]
    .map(([, path]) => relative(root, join(root, dirname(file), path!)))
    .filter((path) => path.startsWith("test/") && existsSync(join(root, path)));
}

function hashOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}
