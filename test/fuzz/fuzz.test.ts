/** A short run of `npm run check fuzz`, whose long run is part of `npm run nightly`. */
import { expect, test } from "vitest";
import { rounds } from "../support/rounds.ts";
import { figures, fuzz } from "./fuzz.ts";

test("whatever the service is sent, it answers, stays up and touches nothing outside its folder", async () => {
  const report = await fuzz({ seed: 21, requests: rounds(400, 3_000) });
  console.log(figures(report).join("\n"));
  expect(report.problems).toEqual([]);
  expect(report.requests).toBeGreaterThanOrEqual(rounds(400, 3_000));
});
