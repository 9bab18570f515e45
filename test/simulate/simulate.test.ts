import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bundled } from "../support/bundled.ts";
import { root, startNode, temporaryFolder } from "../support/project.ts";
import { rounds } from "../support/rounds.ts";
import { rates, type Disturbance } from "./application.ts";
import type { Chance } from "./seeded-random.ts";
import { runSchedule } from "./schedule.ts";
import { simulate } from "./simulate.ts";
import { counted, type Counted } from "./observer.ts";
import { aWorld } from "./virtual-time.ts";
import { aMigration, drawHistory, drawScenario, severalCommits } from "./history.ts";

const schedules = rounds(100, 6_000);
/** The program that `npm run simulate` runs. */
const program = await bundled(join(root, "test/simulate/run.ts"));

test(`whatever happens in ${schedules} schedules, everything holds`, async () => {
  // Others than npm run simulate begins with; from these on, everything happens soon.
  const rare = schedules / 10;
  const often = { scenario: drawScenario, first: 5_008_480, schedules: schedules - rare, mostViolations: 3 };
  const results = [await simulate(often), await simulate({ ...often, first: 5_021_620, schedules: rare })];
  expect(results.flatMap(({ violations }) => violations)).toEqual([]);
  // And everything did happen.
  const isDrawn = (what: string) => !(what in rates) || rates[what as Disturbance] > 0;
  const may = (Object.keys(counted) as readonly Counted[]).filter((what) => what !== "loud" && isDrawn(what));
  const never = may.filter((what) => results.every(({ counts }) => counts[what] === 0));
  expect(never).toEqual([]);
});

test("virtual time waits for promises wherever it is started, also from a tick", async () => {
  const events: string[] = [];
  const world = aWorld();
  world.after(1, () => {
    void (async () => {
      for (let waits = 0; waits < 50; waits++) await undefined;
      world.after(1, () => events.push("after promises"));
    })();
  });
  await new Promise<void>((done) => process.nextTick(() => void world.run().then(() => done())));
  expect(events).toEqual(["after promises"]);
});

// A late call acts on whichever column has the name when it comes, which may not be the one that was meant.
test("what a late call did is corrected where names were used again since", async () => {
  const swap = [
    { path: "a", rename: "b" },
    { path: "b", rename: "a" },
  ];
  const columns = ["a", "b"].map((name) => ({ name, type: { kind: "int32" as const }, nullable: false }));
  const migrations = [
    [{ kind: "createTable" as const, table: "t", columns }],
    [{ kind: "setNullable" as const, table: "t", path: "a", nullable: true }],
    [{ kind: "alterColumns" as const, table: "t", alterations: swap }],
  ].map((steps, index) => aMigration(index + 1, steps));
  const fixed = () => ({ model: "service" as const, migrations });
  const schedules = rounds(80, 3_000);
  const { violations, counts } = await simulate({ scenario: fixed, first: 1, schedules, mostViolations: 1 });
  expect(violations).toEqual([]);
  expect(counts.late).toBeGreaterThan(schedules / 200);
});

test.each(["embedded", "namespace"] as const)(
  "an action of several commits is gone on with or rolled back, as %s",
  async (model) => {
    const fixed = () => ({ model, ...severalCommits });
    const wanted = { scenario: fixed, first: 1, schedules: rounds(15, 2_000), mostViolations: 3 };
    const { violations } = await simulate(wanted);
    expect(violations).toEqual([]);
  },
);

test("on the embedded engine everything holds though an action comes after the lease", async () => {
  const embedded = (chance: Chance) => ({ model: "embedded" as const, migrations: drawHistory(chance, "embedded") });
  const many = rounds(110, 2_000);
  const { violations, counts } = await simulate({
    scenario: embedded,
    first: 1_880,
    schedules: many,
    mostViolations: 3,
  });
  expect(violations).toEqual([]);
  expect(counts.late).toBeGreaterThan(0);
  // Of nearly all schedules the tables are compared right after the trouble too.
  expect(counts.maybeLate).toBeLessThan(many / 100);
});

test("npm run simulate runs as many schedules as are asked for, each once, also when it is interrupted and run again", async () => {
  const state = join(temporaryFolder(), "state.json");
  const args = [program, "--schedules", "5", "--jobs", "4", "--state", state];
  const whole = await startNode(args, root).finished;
  // Fewer parts than jobs.
  const summary = /^5 schedules, 0 violations, \d+ s on 3 cores, \d+ a second$/m;
  expect(whole).toMatchObject({ code: 0, stdout: expect.stringMatching(summary) });
  const again = await startNode(args, root).finished;
  expect(countsIn(again.stdout)).toBe(countsIn(whole.stdout));

  // As it is when the last part was not done.
  const kept = JSON.parse(readFileSync(state, "utf8")) as { done: number[]; result: { schedules: number } };
  expect(kept.done.toSorted((one, other) => one - other)).toEqual([1, 3, 5]);
  const part = await simulate({ scenario: drawScenario, first: 1, schedules: 4, mostViolations: 1 });
  writeFileSync(state, JSON.stringify({ ...kept, done: [3, 1], result: part }));
  const resumed = await startNode(args, root).finished;
  expect(countsIn(resumed.stdout)).toBe(countsIn(whole.stdout));

  const other = await startNode(args.with(2, "40"), root).finished;
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining("--schedules 5") });
});

function countsIn(stdout: string): string | undefined {
  return stdout.split("\n").find((line) => line.includes("run"));
}

test("a seed always draws the same schedule", async () => {
  const traceOf = async (seed: number): Promise<readonly string[]> => {
    const trace: string[] = [];
    await runSchedule(seed, drawScenario, { tell: (what) => void trace.push(what()), count: () => {} });
    return trace;
  };
  for (const seed of [1, 40]) {
    const trace = await traceOf(seed);
    expect(trace.length).toBeGreaterThan(20);
    expect(await traceOf(seed)).toEqual(trace);
  }
  expect(await traceOf(1)).not.toEqual(await traceOf(2));
});

test("what happens for ever is noticed", async () => {
  const world = aWorld();
  const again = () => world.after(1, again);
  again();
  expect(await world.run()).toBe(false);
});

test("what happens at different times happens in their order, and at the same time in that in which it was said", async () => {
  const world = aWorld();
  const happened: string[] = [];
  for (const [at, name] of [
    [5, "e"],
    [1, "a"],
    [3, "c"],
    [1, "b"],
    [3, "d"],
  ] as const)
    world.after(at, () => happened.push(`${name} at ${world.now()}`));
  expect(await world.run()).toBe(true);
  expect(happened).toEqual(["a at 1", "b at 1", "c at 3", "d at 3", "e at 5"]);
});
