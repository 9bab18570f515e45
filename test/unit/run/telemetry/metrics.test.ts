import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { expect, test } from "vitest";
import type { RunEvent } from "../../../../src/run/events.ts";
import { runMetrics } from "../../../../src/run/telemetry/metrics.ts";
import type { TelemetryApi } from "../../../../src/run/telemetry/telemetry.ts";

const waiting: RunEvent = { event: "waiting", by: "ci@runner", lease: 30_000 };
const name = "lance_migrate.lease.wait.duration";

/** The attributes of the waits that a run with these events measures, in the order in which it measures them. */
async function waitsOf(events: readonly RunEvent[], type?: string): Promise<readonly unknown[]> {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const provider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] });
  const metrics = runMetrics({ metrics: provider } as unknown as TelemetryApi, { target: "local" });
  for (const event of events) metrics.see(event);
  metrics.end(type);
  await provider.forceFlush();
  const measured = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((one) => one.metrics));
  const found = measured.find((one) => one.descriptor.name === name);
  await provider.shutdown();
  return (
    found?.dataPoints.map(({ attributes, value }) => ({ ...attributes, count: (value as { count: number }).count })) ??
    []
  );
}

test.each([
  ["that gets the lease", [waiting, waiting, { event: "taking" }], undefined, [{ target: "local", count: 1 }]],
  ["that has nothing to do after its wait", [waiting], undefined, [{ target: "local", count: 1 }]],
  ["that gives up", [waiting], "ERR_LEASE_HELD", [{ target: "local", "error.type": "ERR_LEASE_HELD", count: 1 }]],
  ["that fails with the lease", [waiting, { event: "taking" }], "ERR_STEP_FAILED", [{ target: "local", count: 1 }]],
  ["that waits for nobody", [{ event: "taking" }], undefined, []],
] as const)("the wait of a run %s", async (_, events, type, waits) => {
  expect(await waitsOf(events, type)).toEqual(waits);
});
