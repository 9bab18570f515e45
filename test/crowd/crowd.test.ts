/** A short run of `npm run check crowd`, whose long run is part of `npm run nightly`. */
import { expect, test } from "vitest";
import { lacks } from "../support/needs.ts";
import { commits } from "../support/rounds.ts";
import { figures, runCrowd } from "./crowd.ts";

test.skipIf(lacks("python"))(
  "whatever is killed, each acknowledged change is there once, and nothing else",
  async () => {
    const report = await runCrowd({
      seed: commits(),
      clients: 12,
      python: 2,
      unit: "operations",
      length: 450,
      killWorker: 40,
      killService: 180,
    });
    console.log(figures(report).join("\n"));
    expect(report.problems).toEqual([]);
    expect(report.workersKilled).toBeGreaterThan(0);
    expect(report.servicesKilled).toBeGreaterThan(0);
  },
);
