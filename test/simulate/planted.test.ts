/** The simulator has to find bugs: each of a list is planted in a copy of the source, and it has to see it within 10,000 schedules. */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { runSchedule } from "./schedule.ts";
import { bundledInto } from "../support/bundled.ts";
import { sourcesWith, type PlantedBug } from "../support/planted-bug.ts";
import { root, startNode, temporaryFolder } from "../support/project.ts";
import { isLong, ofThisCommit, rounds } from "../support/rounds.ts";
import { drawScenario } from "./history.ts";
import { forEachCommit, plantedBugs } from "./planted.ts";

const schedules = 10_000;
type Simulator = typeof import("./one-schedule.ts");

/** A script of the simulator, with a bug in its sources. */
async function bundleWith(bug: PlantedBug, script: string): Promise<string> {
  return await bundledInto(temporaryFolder(), join(root, "test/simulate", script), sourcesWith(bug));
}

/** A schedule that shows the bug, and what went wrong in it. */
async function found(bug: PlantedBug): Promise<{ readonly seed: number; readonly problem: string } | undefined> {
  if (!isLong) {
    // Where it was found last, which takes no process.
    const buggy = (await import(pathToFileURL(await bundleWith(bug, "one-schedule.ts")).href)) as Simulator;
    const problem = await buggy.runSchedule(bug.near, buggy.drawScenario);
    if (problem !== undefined) return { seed: bug.near, problem };
  }
  // From there on; or from the first on that is near enough, with as many processes as there are cores.
  const farthest = Math.max(1, bug.near - schedules + 1);
  const [first, jobs] = [rounds(bug.near, farthest), rounds(1, availableParallelism())];
  const numbers = { first, jobs, schedules, violations: 1 };
  const args = Object.entries(numbers).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const { code, stdout } = await startNode([await bundleWith(bug, "run.ts"), ...args], root).finished;
  expect(code).toBe(1);
  const [, seed] = /^seed (\d+): /.exec(stdout) ?? [];
  return seed === undefined ? undefined : { seed: Number(seed), problem: stdout };
}

/** Of those for each commit, every fourth one, and for the next commit others. */
const wanted = isLong
  ? plantedBugs
  : ofThisCommit(
      plantedBugs.filter(({ name }) => forEachCommit.includes(name)),
      4,
    );

test.each(plantedBugs)("the source has what this bug changes: $name", (bug) => {
  expect(sourcesWith(bug).size).toBeGreaterThan(0);
});

test("every bug that is planted for each commit is one of the list", () => {
  const names = new Set(plantedBugs.map(({ name }) => name));
  expect(forEachCommit.filter((name) => !names.has(name))).toEqual([]);
});

test.each(wanted)(`it is found within ${schedules} schedules: $name`, async (bug) => {
  const { seed, problem } = (await found(bug)) ?? {};
  expect(seed).toBeDefined();
  // A name that the source does not have any more would be found whatever it was meant to break.
  expect(problem).not.toMatch(/is not defined/);
  // It is the planted one that was found.
  expect(await runSchedule(seed!, drawScenario)).toBeUndefined();
});
