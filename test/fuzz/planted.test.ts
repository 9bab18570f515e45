/** The fuzzer has to find bugs: each of a list is planted in a copy of the service. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { bundledInto } from "../support/bundled.ts";
import { sourcesWith } from "../support/planted-bug.ts";
import { root, temporaryFolder } from "../support/project.ts";
import { ofThisCommit } from "../support/rounds.ts";
import { fuzz } from "./fuzz.ts";
import { plantedBugs, plantedSeed, type FuzzedBug } from "./planted.ts";

/** From the draw that shows the bug, or from one before it. */
const requests = 60;
/** Where none shows it any more, for instance because other requests are drawn than before. */
const moreRequests = 1_500;

async function isFound(bug: FuzzedBug): Promise<boolean> {
  const script = await bundledInto(temporaryFolder(), join(root, "test/fuzz/watch/serve-here.ts"), sourcesWith(bug));
  const options = { seed: plantedSeed, script, most: 1 };
  const shows = async (first: number, count: number) => {
    const { problems } = await fuzz({ ...options, first, requests: count });
    return problems.some((problem) => bug.shows.test(problem));
  };
  return (await shows(bug.near, requests)) || (await shows(0, moreRequests));
}

test.each(plantedBugs)("the source has what this bug changes: $name", (bug) => {
  expect(sourcesWith(bug).size).toBe(1);
});

test.each(ofThisCommit(plantedBugs, 10))(`it is found within ${moreRequests} requests: $name`, async (bug) => {
  expect(await isFound(bug)).toBe(true);
});
