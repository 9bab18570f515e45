/**
 * Services as the document may be read. On each, either all migrations run, whatever happens to the runs, or doctor and
 * the first run refuse the service and nothing is changed.
 */
import { dirname } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startJudge } from "../oracle/judge.ts";
import { chanceFor } from "../simulate/seeded-random.ts";
import { lacks } from "../support/needs.ts";
import { isLong, ofThisCommit, rounds } from "../support/rounds.ts";
import { rowsOf } from "../support/tables.ts";
import type { Ways } from "./family/family-service.ts";
import { readings, type Reading } from "./family/readings.ts";
import { runsInTurn, tryService, writeMigrations, type Difference } from "./family/trial.ts";

const inJavaScript: Difference = async (place, rows) => {
  const found = JSON.stringify(await rowsOf(dirname(place), "Docs"));
  return found === JSON.stringify(rows) ? null : found;
};

function theMigrations() {
  const migrations = writeMigrations();
  onTestFinished(() => migrations[Symbol.dispose]());
  return migrations;
}

const working = readings.filter(({ works }) => works);
const tried = ofThisCommit(working, 12);

test.each(tried.map((reading, index) => ({ ...reading, index })))(
  "all migrations run, with kills, lost answers and several runs, on a service where $text",
  async ({ ways, works, index }) => {
    // Each reading has its kills at other moments.
    const shares = [0.1, 0.3, 0.5, 0.7, 0.9].map((share) => (share + index * 0.618) % 1);
    const some = isLong
      ? { shares, crowds: [2, 10] }
      : { shares: shares.slice(0, index % 2), crowds: index === 2 ? [2] : [] };
    expect(await tryService({ ways, works, migrations: theMigrations(), difference: inJavaScript, ...some })).toEqual(
      [],
    );
  },
);

/** For each commit every third of these. */
const refused = ofThisCommit(
  readings.filter(({ works }) => !works),
  3,
);

test.each(refused)(
  "doctor and the first run refuse, before anything is changed, a service where $text",
  async ({ ways, works }) => {
    const nothing = { shares: [], crowds: [], difference: inJavaScript };
    expect(await tryService({ ways, works, migrations: theMigrations(), ...nothing })).toEqual([]);
  },
);

test("a list that is cut silently ends a run, and no later one changes anything", async () => {
  for (const most of ofThisCommit([8, 12, 16], 3)) {
    const shown: Ways["shown"] = (all) => all.slice(0, most);
    const [first, ...later] = await runsInTurn({ shown }, theMigrations());
    expect({ most, first }).toEqual({ most, first: "failed, changed" });
    for (const end of later) expect(["failed", "refused", "unreachable"]).toContain(end);
  }
});

/** At most one of them does not work: together, two might show less of each other. */
function drawReadings(seed: number): readonly Reading[] {
  const chance = chanceFor("family", seed);
  const parts = [...new Set(readings.map(({ part }) => part))];
  const bad = chance.happens(0.3) ? chance.pick(readings.filter(({ works }) => !works)) : undefined;
  const drawn = parts.flatMap((part) => {
    // The order decides what a cut list shows.
    const isDecided = part === bad?.part || (part === "order and age" && bad?.part === "lists") || chance.happens(0.3);
    const own = working.filter((reading) => reading.part === part);
    return isDecided || own.length === 0 ? [] : [chance.pick(own)];
  });
  return bad === undefined ? drawn : [...drawn, bad];
}

async function tryDrawn(seed: number, difference: Difference, migrations: ReturnType<typeof writeMigrations>) {
  const drawn = drawReadings(seed);
  const ways: Ways = Object.assign({}, ...drawn.map((reading) => reading.ways));
  const works = drawn.every((reading) => reading.works);
  const problems = await tryService({ ways, works, migrations, difference, shares: [(seed * 0.618) % 1], crowds: [] });
  return problems.length === 0 ? [] : [{ seed, readings: drawn.map(({ text }) => text), problems }];
}

test("drawn combinations of readings work, and pylance finds the right values, or are refused before anything is changed", async () => {
  await using judge = lacks("python")
    ? { difference: inJavaScript, [Symbol.asyncDispose]: async () => {} }
    : startJudge();
  const migrations = theMigrations();
  const first = isLong ? Date.now() : 1;
  const found: unknown[] = [];
  for (let seed = first; seed < first + rounds(2, 1_000); seed++)
    found.push(...(await tryDrawn(seed, judge.difference, migrations)));
  expect(found).toEqual([]);
});
