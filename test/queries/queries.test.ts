/** Short runs of `npm run check queries`, whose long run is part of `npm run nightly`. */
import { expect, test } from "vitest";
import { lacks } from "../support/needs.ts";
import { ofThisTurn, rounds } from "../support/rounds.ts";
import { compareQueries } from "./queries.ts";

const clients = [
  { client: "JavaScript", seed: 3, queries: rounds(40, 600), python: false, compared: 1 },
  { client: "Python", seed: 4, queries: rounds(20, 300), python: true, compared: 3 },
];

// One of the clients for each commit.
test.skipIf(lacks("python")).each(ofThisTurn(clients, 2))(
  "drawn queries of the client for $client find through the service what they find on the folder",
  async ({ compared, ...drawn }) => {
    const { counts, differences } = await compareQueries(drawn);
    expect(differences).toEqual([]);
    const same = [...counts].filter(([what]) => what.endsWith(": same"));
    expect(same).toHaveLength(compared);
    expect(counts.get("JavaScript: same")).toBeGreaterThan(drawn.queries / 2 - 1);
  },
);
