import { expect, test } from "vitest";
import { gitignoreText, workflowText } from "../../../../../src/features/author/init/files.ts";

const npm = { name: "npm", locks: ["package-lock.json"], add: "npm install", run: "npx migrate", install: "npm ci" };

test.each([
  ["", true],
  ["packages/app", false],
])("packages of npm are cached only if the lock file is at the top of the repository: %j", (place, isCached) => {
  expect(workflowText({ manager: npm, place, runs: true }).includes("cache: npm")).toBe(isCached);
});

test.each([
  [undefined, "data/\n"],
  ["", "data/\n"],
  ["dist\n", "dist\ndata/\n"],
  ["dist", "dist\ndata/\n"],
  ["/data\n", undefined],
])("the lines of a .gitignore stay, and what it lacks is added: %j becomes %j", (known, written) => {
  expect(gitignoreText(known, ["data/"])).toBe(written);
});
