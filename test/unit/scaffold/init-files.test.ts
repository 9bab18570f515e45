import { expect, test } from "vitest";
import { workflowText } from "../../../src/scaffold/init/files.ts";

const npm = { name: "npm", locks: ["package-lock.json"], add: "npm install", run: "npx migrate", install: "npm ci" };

test.each([
  ["", true],
  ["packages/app", false],
])("packages of npm are cached only if the lock file is at the top of the repository: %j", (place, isCached) => {
  expect(workflowText({ manager: npm, place, runs: true }).includes("cache: npm")).toBe(isCached);
});
