/**
 * Services as the document may be read. On each, either all migrations run, whatever happens to the runs, or doctor and
 * the first run refuse the service and nothing is changed.
 */
import { expect, onTestFinished, test } from "vitest";
import { isLong, ofThisCommit } from "../support/rounds.ts";
import type { Ways } from "./family/family-service.ts";
import { readings } from "./family/readings.ts";
import { runsInTurn, tryService, writeMigrations } from "./family/trial.ts";

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
    expect(await tryService({ ways, works, migrations: theMigrations(), ...some })).toEqual([]);
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
    const nothing = { shares: [], crowds: [] };
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
