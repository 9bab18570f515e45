/** Short runs of `npm run check queries`, whose long run is part of `npm run nightly`. */
import { expect, test } from "vitest";
import { lacks } from "../support/needs.ts";
import { rounds } from "../support/rounds.ts";
import { compareQueries } from "./queries.ts";

test("drawn queries of the client for JavaScript find through the service what they find on the folder", async () => {
  const { counts, differences } = await compareQueries({ seed: 3, queries: rounds(40, 600), python: false });
  expect(differences).toEqual([]);
  expect(counts.get("JavaScript: same")).toBeGreaterThan(rounds(20, 300));
});

test.skipIf(lacks("python"))(
  "drawn queries of the client for Python find through the service what they find on the folder",
  async () => {
    const { counts, differences } = await compareQueries({ seed: 4, queries: rounds(20, 300), python: true });
    expect(differences).toEqual([]);
    expect([...counts.keys()].filter((what) => what.endsWith(": same"))).toHaveLength(3);
  },
);
