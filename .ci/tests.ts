/**
 * Runs all tests, and the files of a few failures once more. Ends with what failed, and with a line "N passed, N failed".
 * Every failure is red. One that does not return in the second run shows a flaky test, which is a defect too: a race that
 * is there in a third of all runs would turn red in a ninth of them. Only the tests in test/flaky.ts, whose defects are
 * known, may fail once.
 */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { groups, leftToLater } from "../test/files.ts";
import { commits } from "../test/support/rounds.ts";
import { runVitest, type Run } from "./run-vitest.ts";

/** More failures than these have a common cause. */
const mostRepeated = 3;

const { flaky } = (await import(pathToFileURL(resolve("test/flaky.ts")).href)) as { flaky: readonly string[] };
// Random tests draw the same in both runs, and wherever the same commit is tested; for the next commit they draw others.
const seed = (process.env["MIGRATE_SEED"] ??= String(commits()));
const started = performance.now();
// What looks for unknown bugs does so for every fourth commit.
const later = leftToLater(commits());
console.log(`left to the next commits, as in test/files.ts: ${later.join(", ")}`);
const first = await runVitest(
  later.map((name) => `--exclude=test/${name}.test.ts`),
  "inherit",
);
const seconds = (performance.now() - started) / 1_000;
const files = [...new Set([...first.failed.values()].map(({ file }) => file))];
const second = isWorthRepeating(files) ? await runVitest(files, "ignore") : undefined;

const red = new Set<string>();
let flakes = 0;
for (const [id, { text }] of first.failed) {
  if (second === undefined) fail("failed", id, text);
  else if (second.failed.has(id)) fail("failed twice", id, text);
  else if (!second.ended.has(id)) fail("failed, and did not run again", id, text);
  else {
    flakes++;
    if (flaky.includes(id)) print("flaky, as in test/flaky.ts", id, text);
    else fail("flaky: passed in a second run; fix it, or add it to test/flaky.ts", id, text);
  }
}
if (second !== undefined) {
  for (const [id, { text }] of second.failed) if (!first.failed.has(id)) fail("failed in the second run", id, text);
  for (const [id, file] of first.ended)
    if (files.includes(file) && !second.ended.has(id) && !first.failed.has(id)) fail("did not run again", id);
}
if (first.tests.size === 0 && red.size === 0) fail("failed", "no test was run");
printTimes(first);
if (flakes > 0) console.log(`${flakes} flaky, with MIGRATE_SEED=${seed}`);
const tests = [...new Set([...first.tests, ...(second?.tests ?? [])])];
console.log(`${tests.filter((id) => !red.has(id)).length} passed, ${red.size} failed`);
process.exitCode = red.size === 0 ? 0 : 1;

function isWorthRepeating(files: readonly (string | undefined)[]): files is readonly string[] {
  return files.length > 0 && !files.includes(undefined) && first.failed.size <= mostRepeated;
}

function fail(verdict: string, id: string, text = ""): void {
  red.add(id);
  print(verdict, id, text);
}

function print(verdict: string, id: string, text: string): void {
  const lines = text.split("\n", 40).map((line) => `  ${line.slice(0, 2_000)}`);
  console.log([`${verdict}: ${id}`, ...lines].join("\n"));
}

/** How long the files of each group took, added up, and those that took longest. */
function printTimes({ files }: Run): void {
  const sum = (some: Run["files"]) => Math.round(some.reduce((all, { seconds }) => all + seconds, 0));
  for (const [name, folders] of Object.entries(groups)) {
    const own = files.filter(({ path }) => folders.includes(path.split("/")[1]!));
    const longest = own.toSorted((one, other) => other.seconds - one.seconds).slice(0, 3);
    const words = longest.map(({ path, seconds }) => `${path} ${Math.round(seconds)} s`).join(", ");
    console.log(`${name}: ${sum(own)} s in ${own.length} files; longest: ${words}`);
  }
  console.log(`all: ${sum(files)} s, in ${Math.round(seconds)} s`);
}
