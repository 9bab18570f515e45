// What reports of vitest in JSON say, for who reads the end of a log: the tests that failed, and how many there were.
//   summary.mjs REPORT          the report of a run
//   summary.mjs REPORT AGAIN    the same, and the report of a second run of the files that failed
//   summary.mjs --again REPORT  the files that are worth a second run, if any
import { readFileSync } from "node:fs";
import { groups } from "../test/files.ts";

/** More failures than these are no bad luck. */
const mostFlaky = 3;

if (process.argv[2] === "--again") console.log(filesToRepeat(read(process.argv[3])).join("\n"));
else summarize(read(process.argv[2]), process.argv[3] === undefined ? undefined : read(process.argv[3]));

function filesToRepeat({ numFailedTests, testResults }) {
  const failed = testResults.filter(({ status }) => status === "failed");
  // A file that fails without a test of its own failing could not be loaded, which no second run changes.
  const broken = failed.some(({ assertionResults }) => !assertionResults.some(({ status }) => status === "failed"));
  return broken || numFailedTests > mostFlaky ? [] : failed.map(({ name }) => name);
}

function summarize(first, again) {
  const { numPassedTests, numFailedTests, numFailedTestSuites, success, testResults } = first;
  const passedAgain = new Set(again?.testResults.flatMap((file) => testsOf(file, "passed").map(({ id }) => id)));
  let flaky = 0;
  for (const file of testResults) {
    if (file.message) console.log(`failed: ${pathOf(file)}\n${shortened(file.message)}`);
    for (const { id, messages } of testsOf(file, "failed")) {
      const isFlaky = passedAgain.has(id);
      if (isFlaky) flaky += 1;
      console.log(`${isFlaky ? "flaky, passed in a second run" : "failed"}: ${id}\n${shortened(messages)}`);
    }
  }
  printTimes(first);
  const failed = numFailedTests - flaky || (success || flaky > 0 ? 0 : Math.max(1, numFailedTestSuites));
  console.log(`${numPassedTests + flaky} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

/** How long the files of each group took, added up, and those that took longest. */
function printTimes({ startTime, testResults }) {
  const files = testResults.map((file) => ({
    path: pathOf(file),
    seconds: (file.endTime - file.startTime) / 1_000,
    end: file.endTime,
  }));
  for (const [name, folders] of Object.entries(groups)) {
    const own = files.filter(({ path }) => folders.includes(path.split("/")[1]));
    const longest = own.toSorted((one, other) => other.seconds - one.seconds).slice(0, 3);
    const words = longest.map(({ path, seconds }) => `${path} ${Math.round(seconds)} s`).join(", ");
    console.log(`${name}: ${Math.round(sum(own))} s in ${own.length} files; longest: ${words}`);
  }
  const last = Math.max(startTime, ...files.map(({ end }) => end));
  console.log(`all: ${Math.round(sum(files))} s, in ${Math.round((last - startTime) / 1_000)} s`);
}

function sum(files) {
  return files.reduce((all, { seconds }) => all + seconds, 0);
}

function testsOf(file, wanted) {
  return file.assertionResults
    .filter(({ status }) => status === wanted)
    .map(({ fullName, failureMessages }) => ({
      id: `${pathOf(file)} > ${fullName}`,
      messages: failureMessages.join("\n"),
    }));
}

function pathOf({ name }) {
  return name.slice(name.lastIndexOf("/test/") + 1);
}

function read(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

function shortened(text) {
  return text
    .split("\n", 40)
    .map((line) => `  ${line.slice(0, 2_000)}`)
    .join("\n");
}
