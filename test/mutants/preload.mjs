/**
 * Preloaded into every process of a test. MUTANT chooses the mutant that is on. With MUTANTS_SEEN none is: which ones are
 * reached, and by which test, is appended to the file that it names.
 */
import { appendFileSync } from "node:fs";

const { MUTANT: chosen, MUTANTS_SEEN: file } = process.env;
let seen = new Set();

if (chosen !== undefined) globalThis.__mutant = (key) => key === chosen;
else if (file !== undefined) {
  globalThis.__mutant = (key) => {
    if (seen.has(key)) return false;
    seen.add(key);
    appendFileSync(file, `${process.env.MUTANTS_TEST ?? "[]"}\t${key}\n`);
    return false;
  };
  // A process that runs one command after another runs them for several tests.
  if (process.argv[1]?.endsWith("command-process.ts")) process.on("message", forget);
}

/** What is seen from now on is seen by another test. */
export function forget() {
  seen = new Set();
}
