// What a report of vitest in JSON says, for who reads the end of a log: the tests that failed, and how many there were.
import { readFileSync } from "node:fs";

const { numPassedTests, numFailedTests, numFailedTestSuites, success, testResults } = JSON.parse(
  readFileSync(process.argv[2], "utf8"),
);
for (const { name, message, assertionResults } of testResults) {
  const file = name.slice(name.lastIndexOf("/test/") + 1);
  if (message) console.log(`failed: ${file}\n${shortened(message)}`);
  for (const { status, fullName, failureMessages } of assertionResults)
    if (status === "failed") console.log(`failed: ${file} > ${fullName}\n${shortened(failureMessages.join("\n"))}`);
}
const failed = numFailedTests || (success ? 0 : Math.max(1, numFailedTestSuites));
console.log(`${numPassedTests} passed, ${failed} failed`);

function shortened(text) {
  return text
    .split("\n", 40)
    .map((line) => `  ${line.slice(0, 2_000)}`)
    .join("\n");
}
