/** The comparison of drawn queries has to find bugs: each of a list is planted in a copy of the source. */
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bundledInto } from "../support/bundled.ts";
import { sourcesWith, type PlantedBug } from "../support/planted-bug.ts";
import { root, temporaryFolder } from "../support/project.ts";
import { ofThisCommit } from "../support/rounds.ts";
import { plantedBugs, plantedSeed } from "./planted.ts";

/** As many as are performed each night. */
const queries = 2_000;
/** How often the query that shows a bug is performed: indexes are trained each time, and an index of good luck hides the bug. */
const mostTrained = 4;

type Queries = typeof import("./queries.ts");

async function differenceWith(bug: PlantedBug): Promise<string | undefined> {
  const bundle = await bundledInto(temporaryFolder(), join(root, "test/queries/queries.ts"), sourcesWith(bug));
  const { compareQueries } = (await import(pathToFileURL(bundle).href)) as Queries;
  const options = { seed: plantedSeed, python: false, workers: 0, most: 1 };
  for (let time = 0; time < mostTrained; time++) {
    const { differences } = await compareQueries({ ...options, first: bug.near, queries: 1 });
    if (differences.length > 0) return differences[0];
  }
  const { differences } = await compareQueries({ ...options, queries });
  return differences[0];
}

test.each(plantedBugs)("the source has what this bug changes: $name", (bug) => {
  expect(sourcesWith(bug).size).toBe(1);
});

test.each(ofThisCommit(plantedBugs, 8))(`it is found within ${queries} queries: $name`, async (bug) => {
  const difference = await differenceWith(bug);
  expect(difference).toBeDefined();
  // A name that the source does not have any more would be found whatever it was meant to break.
  expect(difference).not.toMatch(/is not defined/);
});
