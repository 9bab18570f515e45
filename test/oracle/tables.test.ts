/** pylance judges tables that migrations made, filled and took back. */
import { expect, test } from "vitest";
import { lacks } from "../support/needs.ts";
import { isLong, rounds } from "../support/rounds.ts";
import { startJudge } from "./judge.ts";
import { checkTables } from "./tables.ts";

const batch = rounds(6, 10);
const batches = rounds(1, 1_000);
const first = isLong ? Date.now() : 1;

test.skipIf(lacks("python"))(
  "drawn tables hold after each migration, and on the way back, what was given",
  async () => {
    await using judge = startJudge();
    let compared = 0;
    for (let seed = first; seed < first + batches; seed++) compared += await checkTables(batch, seed, judge);
    expect(compared).toBeGreaterThan((batches * batch) / 2);
  },
);
